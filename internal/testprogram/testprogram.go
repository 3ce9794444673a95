// Package testprogram builds the programs of this module that tests run.
//
// Go's test cache does not see what a test builds. Build therefore looks at every source
// file of the programs, so that a cached result of the test is used only while none of
// these files has changed.
package testprogram

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

const sources = `{{with .Module}}{{if .Main}}{{$dir := $.Dir}}{{range $.GoFiles}}{{$dir}}/{{.}}
{{end}}{{range $.EmbedFiles}}{{$dir}}/{{.}}
{{end}}{{end}}{{end}}`

// Build builds main packages of this module, which are named by their paths below its root,
// into the folder dir. As in a release the programs are static. Further variables of the
// environment, such as GOOS=wasip1, may choose another system.
func Build(ctx context.Context, dir string, env []string, packages ...string) error {
	const module = "github.com/starling-grid/starling/"
	paths := make([]string, len(packages))
	for i, p := range packages {
		paths[i] = module + p
	}
	run := func(args ...string) ([]byte, error) {
		cmd := exec.CommandContext(ctx, "go", append(args, paths...)...)
		cmd.Env = append(append(os.Environ(), "CGO_ENABLED=0"), env...)
		var errs bytes.Buffer
		cmd.Stderr = &errs
		out, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("go %s: %w\n%s", args[0], err, errs.Bytes())
		}
		return out, nil
	}
	files, err := run("list", "-deps", "-f", sources)
	if err != nil {
		return err
	}
	for s := bufio.NewScanner(bytes.NewReader(files)); s.Scan(); {
		if name := strings.TrimSpace(s.Text()); name != "" {
			if _, err := os.Stat(name); err != nil {
				return err
			}
		}
	}
	_, err = run("build", "-o", dir+string(filepath.Separator))
	return err
}
