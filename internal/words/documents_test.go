package words_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// Tests that are named in the documents exist in the package that is given with them: "`package`:
// `TestA`, `TestB`".
func TestDocumentsNameTests(t *testing.T) {
	declared := make(map[string]map[string]bool) // by folder
	everywhere := make(map[string]bool)
	function := regexp.MustCompile(`(?m)^func ((?:Test|Benchmark)\w+)\(`)
	err := filepath.WalkDir("../..", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !regexp.MustCompile(`_test\.go$`).MatchString(path) {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		dir, err := filepath.Rel("../..", filepath.Dir(path))
		if err != nil {
			return err
		}
		dir = filepath.ToSlash(dir)
		if declared[dir] == nil {
			declared[dir] = make(map[string]bool)
		}
		for _, m := range function.FindAllStringSubmatch(string(b), -1) {
			declared[dir][m[1]], everywhere[m[1]] = true, true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	list := regexp.MustCompile("`([a-z_/]+)`: ((?:(?:, )?`(?:Test|Benchmark)\\w+`)+)")
	name := regexp.MustCompile("`((?:Test|Benchmark)\\w+)`")
	documents, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(documents) == 0 {
		t.Fatalf("%d documents, %v", len(documents), err)
	}
	for _, path := range documents {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range name.FindAllStringSubmatch(string(b), -1) {
			if !everywhere[m[1]] {
				t.Errorf("%s: there is no %s", path, m[1])
			}
		}
		for _, m := range list.FindAllStringSubmatch(string(b), -1) {
			for _, of := range name.FindAllStringSubmatch(m[2], -1) {
				if !declared[m[1]][of[1]] {
					t.Errorf("%s: %s is not in %s", path, of[1], m[1])
				}
			}
		}
	}
}
