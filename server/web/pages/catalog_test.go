package pages

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/starling-grid/starling/internal/testcatalog"
	"github.com/starling-grid/starling/internal/words"
)

// folders have the texts of the site, in Go.
var folders = []string{".", "../account", "../articles", "../counts", "../../allowance", "../../api", "../../badge", "../../forecast", "../../unsendable", "../../workgen"}

var (
	action  = regexp.MustCompile(`\{\{.*?\}\}`)
	literal = `"(?:[^"\\]|\\.)*"`
	calls   = regexp.MustCompile(`[ ({](?:t|mark) (` + literal + `)`)
	tag     = regexp.MustCompile(`(?s)<code>.*?</code>|<p lang="en">.*?</p>|<[^>]*>`)
	shown   = regexp.MustCompile(`(?:title|placeholder|aria-label|alt)="([^"]*)"`)
	letters = regexp.MustCompile(`\pL{2,}`)
)

// own are words in the pages that are the same in all languages.
var own = []string{"BOINC", "CPUs", "GPU", "GPUs", "Starling"}

// Every catalog of the site has the texts of the site and no others, with the same values. The test
// lists the texts without a translation.
func TestCatalogs(t *testing.T) {
	t.Parallel()
	texts := textsOfSite(t)
	if len(texts) < 200 {
		t.Errorf("the site has only %d texts", len(texts))
	}
	for _, l := range words.Languages()[1:] {
		mistakes, missing := testcatalog.Compare(l.Catalog("site"), texts)
		for _, m := range mistakes {
			t.Errorf("%s/site.json: %s", l, m)
		}
		t.Logf("%s/site.json: %d of %d texts are only in English: %q", l, len(missing), len(texts), missing)
	}
}

// Pages write all their texts by the functions that translate them.
func TestPagesHaveNoOtherTexts(t *testing.T) {
	t.Parallel()
	for name, page := range pagesOfSite(t) {
		page = action.ReplaceAllString(page, "")
		var texts []string
		for _, m := range shown.FindAllStringSubmatch(page, -1) {
			texts = append(texts, m[1])
		}
		for _, text := range append(texts, tag.ReplaceAllString(page, " ")) {
			for _, word := range letters.FindAllString(text, -1) {
				if !slices.Contains(own, word) {
					t.Errorf("%s: %q is not translated: use t or mark", name, word)
				}
			}
		}
	}
}

// pagesOfSite returns the templates of the pages by their files' names.
func pagesOfSite(t *testing.T) map[string]string {
	t.Helper()
	pages := make(map[string]string)
	files, err := fs.Glob(pageFiles, "html/*.html")
	if err != nil || len(files) == 0 {
		t.Fatal("no pages: ", err)
	}
	for _, name := range files {
		b, err := pageFiles.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		pages[name] = string(b)
	}
	return pages
}

// textsOfSite returns the English texts of the pages and of the packages whose texts they show.
func textsOfSite(t *testing.T) map[string]bool {
	t.Helper()
	found := make(map[string]bool)
	add := func(quoted string) {
		text, err := strconv.Unquote(quoted)
		if err != nil {
			t.Fatalf("%s: %v", quoted, err)
		}
		found[text] = true
	}
	for _, page := range pagesOfSite(t) {
		for _, a := range action.FindAllString(page, -1) {
			for _, m := range calls.FindAllStringSubmatch(a, -1) {
				add(m[1])
			}
		}
	}
	for _, dir := range folders {
		sources, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil || len(sources) == 0 {
			t.Fatalf("no sources in %s: %v", dir, err)
		}
		for _, name := range sources {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(f, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok {
					if text := textOf(call); text != nil {
						add(text.Value)
					}
				}
				return true
			})
		}
	}
	return found
}

// textOf returns the English text of a call that makes a text, or nil.
func textOf(call *ast.CallExpr) *ast.BasicLit {
	place := -1
	switch f := call.Fun.(type) {
	case *ast.Ident:
		place = map[string]int{"refusal": 1}[f.Name] - 1
	case *ast.SelectorExpr:
		if x, ok := f.X.(*ast.Ident); ok && x.Name == "words" {
			place = map[string]int{"T": 1, "Plural": 3}[f.Sel.Name] - 1
		}
	}
	if place < 0 || place >= len(call.Args) {
		return nil
	}
	text, _ := call.Args[place].(*ast.BasicLit)
	return text
}
