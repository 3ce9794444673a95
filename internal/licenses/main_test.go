package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPrograms finds the licenses of all modules in the programs, on each system.
func TestPrograms(t *testing.T) {
	t.Chdir("../..")
	t.Setenv("CGO_ENABLED", "0")
	for _, goos := range []string{"linux", "windows", "darwin"} {
		t.Setenv("GOOS", goos)
		var b bytes.Buffer
		if err := run(&b, []string{"./cmd/starling", "./cmd/starling-detect", "./cmd/starling-server", "./cmd/starling-wrap"}); err != nil {
			t.Fatalf("%s: %v", goos, err)
		}
		for _, want := range []string{
			"the Go standard library 1.", "github.com/spf13/cobra v1.", "modernc.org/sqlite v1.",
			"(LICENSE-SQLITE)", // SQLite itself
			"(LICENSES/",       // of a module that follows REUSE
			"Redistributions in binary form must reproduce the above copyright", // a whole text
		} {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%s: the file does not contain %q", goos, want)
			}
		}
	}
}

func TestCollect(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"a/LICENSE": "MIT\r\n", "a/x/copied/License.txt": "BSD", "a/x/copied/license.go": "package copied", "a/license/x.go": "package license",
		"b/COPYING": "MIT", "b/NOTICE": "by B", "c/README.md": "no terms", "d/PATENTS": "a grant is no license",
	} {
		name = filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	in := func(name, below string) pkg {
		dir := filepath.Join(root, name)
		return pkg{Dir: filepath.Join(dir, below), Module: &module{Path: name + ".example", Version: "v1", Dir: dir}}
	}
	found, err := collect([]pkg{in("a", "x/copied"), in("a", ""), in("b", "")})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	for _, text := range found {
		b.WriteString(text.body + ": " + strings.Join(text.of, ", ") + "\n")
	}
	if got, want := b.String(), "MIT: a.example v1 (LICENSE), b.example v1 (COPYING)\nBSD: a.example v1 (x/copied/License.txt)\nby B: b.example v1 (NOTICE)\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if _, err := collect([]pkg{in("a", ""), in("c", ""), in("d", "")}); err == nil || !strings.Contains(err.Error(), "no license text in c.example, d.example;") {
		t.Errorf("modules without a license: %v", err)
	}
}
