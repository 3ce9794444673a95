// Command licenses writes the license texts of everything that is linked into programs, as a
// file to ship next to them:
//
//	GOOS=linux GOARCH=arm64 licenses ./cmd/starling ./cmd/starling-detect
//
// It reads the module cache and needs no network. A module without a license text is an error.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

func main() {
	if err := run(os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "licenses:", err)
		os.Exit(1)
	}
}

func run(w io.Writer, programs []string) error {
	packages, err := list(programs)
	if err != nil {
		return err
	}
	root, err := exec.Command("go", "env", "GOROOT", "GOVERSION").Output()
	if err != nil {
		return fmt.Errorf("go env: %w", err)
	}
	goroot, version, _ := strings.Cut(strings.TrimSpace(string(root)), "\n")
	packages = append(packages, pkg{Dir: goroot, Module: &module{Path: "the Go standard library", Version: strings.TrimPrefix(version, "go"), Dir: goroot}})
	found, err := collect(packages)
	if err != nil {
		return err
	}
	write(w, found)
	return nil
}

// A pkg is a package as go list describes it.
type pkg struct {
	Dir    string
	Module *module // nil in the standard library
}

type module struct {
	Path, Version, Dir string
	Main               bool
}

// list returns the packages that are linked into programs.
func list(programs []string) ([]pkg, error) {
	cmd := exec.Command("go", append([]string{"list", "-deps", "-json=Dir,Module"}, programs...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	var all []pkg
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		if p.Module != nil && !p.Module.Main {
			all = append(all, p)
		}
	}
}

// A text is one license or notice and the places that it is for.
type text struct {
	body string
	of   []string // module, version and file
}

var (
	license = regexp.MustCompile(`(?i)^(licen[cs]es?|copying|unlicense)([-._].*)?$`)
	notice  = regexp.MustCompile(`(?i)^(notices?|patents|copyright)([-._].*)?$`)
)

// collect reads the license texts of packages: those in the folder of each and in the folders
// above it, up to its module's, since some modules contain code of others. Equal texts come
// once. The error names every module that has no license.
func collect(packages []pkg) ([]text, error) {
	dirs := make(map[string]module)
	for _, p := range packages {
		for dir := p.Dir; ; dir = filepath.Dir(dir) {
			dirs[dir] = *p.Module
			if len(dir) <= len(p.Module.Dir) {
				break
			}
		}
	}
	places := make(map[string][]string) // by body
	licensed := make(map[string]bool)   // by module
	for _, dir := range slices.Sorted(maps.Keys(dirs)) {
		m := dirs[dir]
		below, err := filepath.Rel(m.Dir, dir)
		if err != nil {
			return nil, err
		}
		err = texts(os.DirFS(dir), func(name, body string) {
			licensed[m.Path] = licensed[m.Path] || license.MatchString(strings.SplitN(name, "/", 2)[0])
			of := fmt.Sprintf("%s %s (%s)", m.Path, m.Version, path.Join(filepath.ToSlash(below), name))
			places[body] = append(places[body], of)
		})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.Path, err)
		}
	}
	missing := make(map[string]bool)
	for _, m := range dirs {
		if !licensed[m.Path] {
			missing[m.Path] = true
		}
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("no license text in %s; find out under which license it may be distributed", strings.Join(slices.Sorted(maps.Keys(missing)), ", "))
	}
	var all []text
	for body, of := range places {
		slices.Sort(of)
		all = append(all, text{body, of})
	}
	slices.SortFunc(all, func(a, b text) int { return strings.Compare(a.of[0], b.of[0]) })
	return all, nil
}

// texts calls each with the licenses and notices of a folder, and with those in its folder LICENSES.
func texts(dir fs.FS, each func(name, body string)) error {
	entries, err := fs.ReadDir(dir, ".")
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := e.Name()
		if ext := path.Ext(name); !license.MatchString(name) && !notice.MatchString(name) || ext == ".go" || ext == ".sh" {
			continue
		}
		names := []string{name}
		if e.IsDir() {
			if name != "LICENSES" {
				continue // a package with that name
			}
			if names, err = fs.Glob(dir, name+"/*"); err != nil {
				return err
			}
		}
		for _, name := range names {
			b, err := fs.ReadFile(dir, name)
			if err != nil {
				return err
			}
			each(name, strings.TrimSpace(strings.ReplaceAll(string(b), "\r\n", "\n")))
		}
	}
	return nil
}

func write(w io.Writer, all []text) {
	line := strings.Repeat("=", 80)
	fmt.Fprint(w, "Starling is distributed under the Apache License 2.0, see LICENSE. Its programs contain\nthe code below, which is distributed under licenses of its own.\n")
	for _, t := range all {
		fmt.Fprintf(w, "\n%s\n%s\n%s\n\n%s\n", line, strings.Join(t.of, "\n"), line, t.body)
	}
}
