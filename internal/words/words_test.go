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
	"reflect"
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

// avoid are turns of phrase for which there is a plainer one, each with an example.
var avoid = []struct{ words, instead, example string }{
	{`\bgo(es|ing)? on\b|\bgone on\b|\bwent on\b`, "continue, resume", "computing goes on"},
	{`\bbegun\b|\bbeg[ia]n(s|ning)?\b`, "start, running", "begun tasks"},
	{`\banew\b`, "again, over", "starts anew"},
	{`\bhand(s|ed|ing)? out\b`, "publish, send", "what is handed out"},
	{`\b(tells?|told) of\b|\bcannot be told\b|\bis told\b`, "report, determine, notify", "the project is told"},
	{`\blet .{0,20}\brest\b|\brests?\b until\b`, "suspend", "Let a task rest"},
	{`(?-i:\bWho (is|has|wants|may|stands)\b)|\bwho forgot\b`, "a thing, or you, as the subject", "Who has the address"},
	{`\b(put|puts|putting) .{0,20}right\b`, "fix", "put the file right"},
	{`\bits kin\b|\bor kin\b|\bkin of\b`, "related", "Fedora or its kin"},
	{`\bsteer(s|ed|ing)?\b`, "control", "who can steer"},
	{`\bfor good\b`, "until changed", "default: for good"},
	{`\bas you asked\b`, "user request", "as you asked"},
	{`\bany more\b`, "no longer", "cannot be reached any more"},
	{`\bstands? (in )?between\b`, "intercepts the connection", "somebody stands in between"},
	{`\b(some|no)body\b`, "someone, or the passive", "while somebody uses the computer"},
	{`\bis there (already|yet)\b|\bnot there yet\b`, "already exists, does not exist yet", "it is there already"},
	{`\bon (its|their) way\b|\bunder way\b`, "in progress, active, transfers", "No file is on its way."},
	{`\bobey(s|ed)?\b`, "control, follow an instruction", "the agent obeys root"},
	{`\bis no (data|number|port|address|day|pairing|request)\b`, "is not a", "7 is no port"},
	{`\bis nothing that\b`, "unknown, cannot", "it is nothing that can be done"},
	{`\bnot within\b`, "not between", "5 is not within 0 and 3"},
	{`\bso (many|much|long)\b`, "this many, this much, this long", "use at most so many CPUs"},
	{`\bwins over\b|\bholds over\b|\bholds anyway\b`, "overrides", "it wins over prefs.toml"},
	{`\bno (task|file|project) is (here|attached|on)\b|\battached to no(ne)?\b`, "No tasks.", "No task is here."},
	{`\bthough\b.*\bin use\b`, "even while you are using the computer", "though the computer is in use"},
	{`\bhear of\b|\bhears of\b`, "learn, fetch", "hear of the credit"},
	{`\bis seen first\b`, "learning how", "how long they take is seen first"},
	{`\b[0-9]+ (results|tasks) in a row\b|%d results in a row`, "the last task failed", "%d results in a row failed"},
	{`\basked for if\b`, "prompted for", "asked for if it is not given"},
}

// TestAvoidedPhrasesAreFound checks the rules themselves.
func TestAvoidedPhrasesAreFound(t *testing.T) {
	for _, a := range avoid {
		if !regexp.MustCompile(`(?i)` + a.words).MatchString(a.example) {
			t.Errorf("%s does not find %q", a.words, a.example)
		}
	}
}

// TestWords checks all texts.
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
		case d.IsDir() && (strings.HasPrefix(d.Name(), ".") && d.Name() != ".." || d.Name() == "testdata" || d.Name() == "bin" || d.Name() == "dist" || d.Name() == "tools" || d.Name() == "storetest"):
			return fs.SkipDir
		case strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go"):
			found, err := inSource(path, name)
			all = append(all, found...)
			return err
		}
		switch filepath.Ext(name) {
		case ".md":
			if name != "CHANGELOG.md" { // its old entries stay as they were published
				found, err := inHandbook(path, name)
				all = append(all, found...)
				return err
			}
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
				tag, err := strconv.Unquote(n.Tag.Value)
				if about := reflect.StructTag(tag).Get("about"); err == nil && isText(about) {
					all = append(all, text{fmt.Sprintf("%s:%d", name, files.Position(n.Pos()).Line), "help", about})
				}
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

// kindOf returns the use that a call makes of its texts.
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

// isText reports whether a string is a sentence, and not a name, a format or a query.
func isText(s string) bool { return word.MatchString(s) && !query.MatchString(s) }

var (
	tags  = regexp.MustCompile(`(?s)<style.*?</style>|<svg.*?</svg>|\{\{.*?\}\}|<[^>]*>`)
	attrs = regexp.MustCompile(`(?:title|placeholder|aria-label|alt)="([^"]+)"`)
	calls = regexp.MustCompile(`\{\{.*?\}\}`)
	args  = regexp.MustCompile(`"([^"]+)"`)
	quote = regexp.MustCompile("'((?:[^'\\\\\n]|\\\\.)*)'|`([^`]*)`")
)

// inHandbook finds the lines of a handbook.
func inHandbook(path, name string) (all []text, err error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	n := 0
	for line := range strings.Lines(string(b)) {
		n++
		if line = strings.TrimSpace(line); word.MatchString(line) {
			all = append(all, text{fmt.Sprintf("%s:%d", name, n), "handbook", line})
		}
	}
	return all, nil
}

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
		for _, call := range calls.FindAllString(line, -1) { // {{t "Join the team"}}
			for _, m := range args.FindAllStringSubmatch(call, -1) {
				add(m[1])
			}
		}
		add(tags.ReplaceAllString(line, ""))
	}
	return all, nil
}
