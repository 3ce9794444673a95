package reason_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// others have the words of other programs.
var others = map[string]string{
	"agent/outcome/failure.go":      "a line that BOINC's library writes in every application",
	"cmd/demo/collatz.go":           "an example's output",
	"cmd/demo/report.go":            "an example's output",
	"internal/testdocs/testdocs.go": "command lines in documents",
	"internal/tomlfile/cure.go":     "errors of the TOML reader",
}

var (
	searches = regexp.MustCompile(`^(strings|bytes)\.(Contains|Count|Cut\w*|EqualFold|HasPrefix|HasSuffix|Index|LastIndex|Split\w*|Trim(Prefix|Suffix))$|^regexp\.`)
	phrase   = regexp.MustCompile(`[a-z]{2,} (\w|\()`)
)

// TestNoSentenceIsParsed finds code that searches a text for a phrase: reasons have codes.
func TestNoSentenceIsParsed(t *testing.T) {
	if err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		name := strings.TrimPrefix(filepath.ToSlash(path), "../")
		for _, text := range searched(f) {
			if others[name] == "" {
				t.Errorf("%s searches for %q", name, text)
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	const example = `package p; func f(s string) bool { return strings.HasPrefix(s, "process got signal ") || regexp.MustCompile("exit code (.*)").MatchString(s) || strings.Contains(s, ": ") }`
	f, err := parser.ParseFile(token.NewFileSet(), "", example, 0)
	if got := searched(f); err != nil || len(got) != 2 {
		t.Errorf("found %q, %v", got, err)
	}
}

// searched returns the phrases for which a file searches texts.
func searched(f *ast.File) (all []string) {
	ast.Inspect(f, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		fun, _ := call.Fun.(*ast.SelectorExpr)
		if fun == nil {
			return true
		}
		if pkg, _ := fun.X.(*ast.Ident); pkg == nil || !searches.MatchString(pkg.Name+"."+fun.Sel.Name) {
			return true
		}
		for _, arg := range call.Args {
			if l, ok := arg.(*ast.BasicLit); ok && l.Kind == token.STRING {
				if text, err := strconv.Unquote(l.Value); err == nil && phrase.MatchString(text) {
					all = append(all, text)
				}
			}
		}
		return true
	})
	return all
}
