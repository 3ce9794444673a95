package words

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var list = flag.Bool("list", false, "print every text")

// A text is a sentence, or a part of one, that a person may read.
type text struct {
	at   string // file:line
	kind string // error, log, help, text or page
	text string
}

// avoid are turns of phrase for which there is a plainer one.
var avoid = []struct{ words, instead string }{}

// TestWords goes over all texts.
func TestWords(t *testing.T) {
	var rules []*regexp.Regexp
	for _, a := range avoid {
		rules = append(rules, regexp.MustCompile(`(?i)`+a.words))
	}
	n := 0
	for _, x := range collect(t) {
		n++
		if *list {
			fmt.Printf("%s\t%s\t%s\n", x.at, x.kind, x.text)
		}
		for i, r := range rules {
			if found := r.FindString(x.text); found != "" {
				t.Errorf("%s: %q in %q: better: %s", x.at, found, x.text, avoid[i].instead)
			}
		}
	}
	t.Log(n, "texts")
}

const root = "../.."

// collect finds the texts in the program's source, its pages and its handbooks.
func collect(t *testing.T) (all []text) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := filepath.ToSlash(strings.TrimPrefix(path, root+string(filepath.Separator)))
		switch {
		case d.IsDir() && (strings.HasPrefix(d.Name(), ".") && d.Name() != ".." || d.Name() == "testdata" || d.Name() == "bin" || d.Name() == "dist" || d.Name() == "tools"):
			return fs.SkipDir
		case strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go"):
			found, err := inSource(path, name)
			all = append(all, found...)
			return err
		}
		switch filepath.Ext(name) {
		case ".html", ".js", ".tmpl":
			found, err := inPage(path, name)
			all = append(all, found...)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// inSource finds the texts in a file of Go: string literals that hold words.
func inSource(path, name string) (all []text, err error) {
	files := token.NewFileSet()
	f, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	kinds := make(map[ast.Expr]string)
	skip := make(map[ast.Node]bool)
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.Field: // its tag
			if n.Tag != nil {
				skip[n.Tag] = true
			}
		case *ast.CallExpr:
			kind := kindOf(n)
			for _, a := range n.Args {
				kinds[a] = kind
			}
		case *ast.KeyValueExpr:
			if k, ok := n.Key.(*ast.Ident); ok && (k.Name == "Short" || k.Name == "Long" || k.Name == "Example" || k.Name == "Use") {
				kinds[n.Value] = "help"
			}
		case *ast.BinaryExpr:
			kinds[n.X], kinds[n.Y] = kinds[n], kinds[n]
		case *ast.BasicLit:
			if n.Kind != token.STRING || skip[n] {
				return true
			}
			s, err := strconv.Unquote(n.Value)
			if err == nil && isText(s) {
				kind := kinds[n]
				if kind == "" {
					kind = "text"
				}
				all = append(all, text{fmt.Sprintf("%s:%d", name, files.Position(n.Pos()).Line), kind, strings.Join(strings.Fields(s), " ")})
			}
		}
		return true
	})
	return all, nil
}

// kindOf is what a call does with its texts.
func kindOf(c *ast.CallExpr) string {
	name := ""
	switch f := c.Fun.(type) {
	case *ast.SelectorExpr:
		name = f.Sel.Name
	case *ast.Ident:
		name = f.Name
	}
	switch {
	case name == "Errorf" || name == "New":
		return "error"
	case name == "Info" || name == "Warn" || name == "Error" || name == "Debug" || name == "Log":
		return "log"
	case strings.HasSuffix(name, "Var") || strings.HasSuffix(name, "VarP") || name == "Flag":
		return "help"
	}
	return "text"
}

var (
	word  = regexp.MustCompile(`[a-z]{2,}[,;:]? [A-Za-z%]`)
	query = regexp.MustCompile(`^\s*(SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER|WITH|PRAGMA|BEGIN|DROP|VACUUM|ANALYZE|EXPLAIN|SET|LOCK|AND|WHERE|FROM|JOIN|ORDER)\b`)
)

// isText tells sentences from names, formats and queries.
func isText(s string) bool { return word.MatchString(s) && !query.MatchString(s) }

var (
	tags  = regexp.MustCompile(`(?s)<style.*?</style>|<svg.*?</svg>|\{\{.*?\}\}|<[^>]*>`)
	attrs = regexp.MustCompile(`(?:title|placeholder|aria-label|alt)="([^"]+)"`)
	quote = regexp.MustCompile("'((?:[^'\\\\\n]|\\\\.)*)'|`([^`]*)`")
)

// inPage finds the texts of a page or its program.
func inPage(path, name string) (all []text, err error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	n := 0
	for line := range strings.Lines(string(b)) {
		n++
		add := func(s string) {
			if s = strings.TrimSpace(s); word.MatchString(s) {
				all = append(all, text{fmt.Sprintf("%s:%d", name, n), "page", s})
			}
		}
		if filepath.Ext(name) == ".js" {
			for _, m := range quote.FindAllStringSubmatch(line, -1) {
				add(m[1] + m[2])
			}
			continue
		}
		for _, m := range attrs.FindAllStringSubmatch(line, -1) {
			add(m[1])
		}
		add(tags.ReplaceAllString(line, ""))
	}
	return all, nil
}
