package words_test

import (
	"cmp"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/starling-grid/starling/internal/testcatalog"
	"github.com/starling-grid/starling/reason"
)

// TestCatalogOfTheAgent compares the translations of the agent's texts with its sources.
func TestCatalogOfTheAgent(t *testing.T) {
	all, texts := make(map[string]bool), make(map[string]bool)
	for _, part := range [][]reason.Entry{reason.Troubles, reason.Managers, reason.Failures, reason.Obstacles, reason.Refusals, reason.Requests, reason.Tasks} {
		for _, e := range part {
			for _, s := range append(reason.Sentences(e.Cure), e.Text, e.Unnamed) {
				if s != "" && s != "{detail}." {
					all[s], texts[s] = true, true
				}
			}
		}
	}
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		name := filepath.ToSlash(strings.TrimPrefix(path, root+string(filepath.Separator)))
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || slices.Contains([]string{".git", "dist", "bin", "server", "servertest", "e2e", "examples", "tools", "cmd/starling-server", "cmd/demo", "internal/load"}, name)):
			return fs.SkipDir
		case !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		return collect(path, all, texts)
	})
	if err != nil || len(texts) < 300 {
		t.Fatalf("%d texts, %v", len(texts), err)
	}
	files, err := filepath.Glob(filepath.Join("catalog", "*", "agent.json"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		catalog, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		mistakes, _ := testcatalog.Compare(catalog, all)
		for _, m := range mistakes {
			t.Errorf("%s: %s", name, m)
		}
		_, missing := testcatalog.Compare(catalog, texts)
		t.Logf("%s: %d of %d texts are only in English", name, len(missing), len(texts))
		for _, m := range missing {
			t.Log(strconv.Quote(m))
		}
	}
}

// template is a text with the place of a value.
var template = regexp.MustCompile(`^[^{%/]*\{[a-z]+\}[^%]* [^%]*$`)

// makers are the functions that make a text of their arguments.
var makers = []string{"T", "Plural", "Count", "phrase", "phraseln", "fault", "line"}

// collect adds the string literals of a file to all, and those that are probably texts to texts. Of a
// sum it takes the literals that are constants together.
func collect(path string, all, texts map[string]bool) error {
	f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec, *ast.Field:
			return false
		case *ast.CallExpr:
			name := ""
			switch f := n.Fun.(type) {
			case *ast.Ident:
				name = f.Name
			case *ast.SelectorExpr:
				name = f.Sel.Name
			}
			if !slices.Contains(makers, name) {
				return true
			}
			for i, a := range n.Args {
				s, ok := constant(a)
				switch {
				case !ok || name == "T" && i > 0 || (name == "phrase" || name == "fault") && i > 0 || name == "phraseln" && i != 1:
				case name == "Count":
					all["{n} "+s+"s"], texts["{n} "+s+"s"] = true, true
				case name == "Plural" && i == 2:
					all[s], texts[s] = true, true
				case name == "Plural":
					all[s] = true
				case name == "line" && i > 0:
				case s != "":
					texts[s] = true
				}
			}
		case ast.Expr:
			if s, ok := constant(n); ok {
				if _, known := all[s]; !known {
					all[s] = true
				}
				if _, known := texts[s]; !known && template.MatchString(s) {
					texts[s] = true
				}
			}
		}
		return true
	})
	return nil
}

// constant returns the value of a string literal, or of a sum of such.
func constant(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		s, err := strconv.Unquote(e.Value)
		return s, err == nil && e.Kind == token.STRING
	case *ast.BinaryExpr:
		a, okA := constant(e.X)
		b, okB := constant(e.Y)
		return a + b, okA && okB
	}
	return "", false
}

// TestCatalogsAgree checks that a text of the agent has one translation in a language. The dashboard
// and a project's site are pages of different programs.
func TestCatalogsAgree(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("catalog", "*", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(files, func(a, b string) int { return cmp.Compare(filepath.Base(a), filepath.Base(b)) }) // agent.json first
	type key struct{ language, english string }
	said := make(map[key]string)
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var all map[string]json.RawMessage
		if err := json.Unmarshal(b, &all); err != nil {
			t.Fatal(name, err)
		}
		for english, raw := range all {
			var other string
			if json.Unmarshal(raw, &other) != nil { // it has plural forms
				var forms map[string]string
				if err := json.Unmarshal(raw, &forms); err != nil {
					t.Fatal(name, english, err)
				}
				other = forms["other"]
			}
			k := key{filepath.Dir(name), english}
			if before, known := said[k]; known && before != other {
				t.Errorf("%s: %q is %q, and elsewhere %q", k.language, english, other, before)
			}
			if filepath.Base(name) == "agent.json" {
				said[k] = other
			}
		}
	}
}
