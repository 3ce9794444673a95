package main

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/starling-grid/starling/server/api/wire"
	"github.com/starling-grid/starling/server/workgen"
)

// workunitOf makes a workunit of a file, a folder or an address.
func workunitOf(path, input string) (wu wire.Workunit, err error) {
	if strings.HasPrefix(path, "http://") || strings.HasPrefix(path, "https://") {
		return workunitAt(path, input)
	}
	st, err := os.Stat(path)
	if err != nil {
		return wu, err
	}
	wu.Name = filepath.Base(path)
	files := map[string]string{input: path}
	names := []string{input}
	if st.IsDir() {
		entries, err := os.ReadDir(path)
		if err != nil {
			return wu, err
		}
		names = nil
		for _, e := range entries {
			names = append(names, e.Name())
			files[e.Name()] = filepath.Join(path, e.Name())
		}
		if len(names) == 0 {
			return wu, fmt.Errorf("%s has no files", path)
		}
	}
	for _, name := range names {
		content, err := os.ReadFile(files[name])
		if err != nil {
			return wu, err
		}
		in := wire.Input{Name: name}
		if text := string(content); utf8.ValidString(text) {
			in.Text = &text
		} else {
			encoded := base64.StdEncoding.EncodeToString(content)
			in.Base64 = &encoded
		}
		wu.Inputs = append(wu.Inputs, in)
	}
	return wu, nil
}

// workunitAt makes a workunit of a file on another server: URL, or URL BYTES MD5.
func workunitAt(text, input string) (wu wire.Workunit, err error) {
	in := wire.Input{Name: input, URL: text, Copy: true}
	if strings.Contains(text, " ") {
		g, err := workgen.ParseRemote(text)
		if err != nil {
			return wu, err
		}
		in = wire.Input{Name: cmp.Or(g.Logical, input), URL: g.Remote.URL, NBytes: g.Remote.NBytes, MD5: g.Remote.MD5}
	}
	return wire.Workunit{Name: workgen.Remote{URL: in.URL}.File(), Inputs: []wire.Input{in}}, nil
}
