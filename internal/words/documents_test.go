package words_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
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

// foreign are names of BOINC's and other programs, which the documents mention.
const foreign = `apparmor_parser compare_results forward_slashes in_progress_results init_result low_bandwidth
	min_client_version multi_process pg_rewind sample_assimilator sample_bitwise_validator sample_dummy_assimilator
	sample_trivial_validator send_full_workload vbox64_mt verify_files_on_app_start`

// Names with underscores, such as keys, columns, metrics and files, and flags that the documents have
// in backquotes are in the program.
func TestDocumentsNameThings(t *testing.T) {
	known := make(map[string]bool)
	for name := range strings.FieldsSeq(foreign) {
		known[name] = true
	}
	word := regexp.MustCompile(`[A-Za-z0-9]+(?:[_-][A-Za-z0-9]+)*`)
	root := os.DirFS("../..")
	err := fs.WalkDir(root, ".", func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && path != "." && strings.HasPrefix(path, "."), path == "bin", path == "dist":
			return fs.SkipDir
		case e.IsDir() || filepath.Ext(path) == ".md":
			return nil
		}
		known[filepath.Base(path)] = true
		if strings.HasSuffix(path, "_test.go") {
			return nil // tests have names that the program refuses
		}
		text, err := fs.ReadFile(root, path)
		for _, w := range word.FindAll(text, -1) {
			known[string(w)], known["starling_"+string(w)] = true, true // a metric has its prefix from the registry
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	inline := regexp.MustCompile("`([^`\n]+)`")
	thing := regexp.MustCompile(`--[a-z][a-z-]+|\b[a-z0-9]+(?:_[a-z0-9]+)+\b(?:\.go)?`)
	seen := 0
	for _, pattern := range []string{"*.md", "docs/*.md"} {
		names, err := fs.Glob(root, pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			text, err := fs.ReadFile(root, name)
			if err != nil {
				t.Fatal(err)
			}
			for _, span := range inline.FindAllStringSubmatch(string(text), -1) {
				for _, m := range thing.FindAllString(span[1], -1) {
					seen++
					if !known[strings.TrimLeft(m, "-")] {
						t.Errorf("%s names %s, which is not in the program", name, m)
					}
				}
			}
		}
	}
	if seen < 300 {
		t.Errorf("only %d names were found", seen)
	}
}
