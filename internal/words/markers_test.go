package words_test

import (
	"cmp"
	"fmt"
	"go/scanner"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

type marker struct {
	name    string
	expr    *regexp.Regexp
	example string
}

// markers are patterns that make English read as translated. Native documentation has
// next to none of them: restic's and Caddy's at most 0.7 of each per 1,000 words, and
// fewer than 5 semicolons.
var markers = []marker{
	{"what", regexp.MustCompile(`(?i)` + `\bwhat (is|are|was|were|has|have|had|it|they|the|a|an|its|their|you|does|do|did|comes?|came|waits?|needs?|follows?|becomes?|became|remains?|happens?|happened|cannot|can)\b`), "What is done is reported."},
	{"say", regexp.MustCompile(`(?i)` + `\b(says?|said|tells?|told|knows?|knew|believes?|believed|hears?|heard)\b`), "The log tells why."},
	{"of", regexp.MustCompile(`(?i)` + `\b(that|those) of\b|\bof (its|their|his|her|your|our) own\b|\bby (itself|themselves)\b`), "a user of its own"},
	{"stand", regexp.MustCompile(`(?i)` + `\b(stands?|stood|lies|lay|holds?|held|comes?|came|go|goes|went|gone) (at|in|on|by|for|with|over|back|up|out|away|along|through|from|into|to|first|round)\b`), "A change holds at once, and comes with a reason."},
	{"none", regexp.MustCompile(`(?i)` + `\b(is|are|was|were|has|have|had|gets?|allows?|needs?|takes?|makes?|suits?) (no|none|nothing)\b|\bnobody\b|\bno one\b`), "It suits no computer."},
	{"beside", regexp.MustCompile(`(?i)` + `\bbeside\b|\bbut for\b|\bamid\b`), "beside the others"},
	{"semicolon", regexp.MustCompile(`(?i)` + `;`), "one; two"},
}

// Budgets have the markers that are allowed, in each document and in the comments of each package.
// Counts may only shrink: UPDATE=1 go test ./internal/words -run Markers writes lower ones.
const (
	documentBudget = "testdata/markers.txt"
	commentBudget  = "testdata/comments.txt"
)

// documents returns the paths of all documents, from the repository's root.
func documents(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, pattern := range []string{"*.md", "docs/*.md"} {
		found, err := filepath.Glob("../../" + pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %d documents, %v", pattern, len(found), err)
		}
		for _, path := range found {
			all = append(all, filepath.ToSlash(strings.TrimPrefix(path, filepath.FromSlash("../../"))))
		}
	}
	return all
}

// read returns the text of a document.
func read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("../..", name))
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(b), "\r\n", "\n")
}

var (
	fences = regexp.MustCompile("(?ms)^```.*?^```")
	others = regexp.MustCompile("(?m)^    .*$|\\]\\([^)\n]*\\)|<[^>\n]*>")
	code   = regexp.MustCompile("`[^`]*`")
)

// prose returns a document without code, addresses and tags.
func prose(text string) string {
	text = fences.ReplaceAllString(text, "")
	text = code.ReplaceAllString(text, "X")
	return others.ReplaceAllString(text, "")
}

func TestMarkersAreFound(t *testing.T) {
	for _, m := range markers {
		if !m.expr.MatchString(m.example) {
			t.Errorf("%s does not find %q", m.name, m.example)
		}
	}
}

// TestMarkers counts the markers of each document.
func TestMarkers(t *testing.T) {
	texts := make(map[string]string)
	for _, name := range documents(t) {
		texts[name] = prose(read(t, name))
	}
	count(t, documentBudget, texts)
}

// TestCommentMarkers counts the markers in the comments of each package.
func TestCommentMarkers(t *testing.T) {
	texts := make(map[string]string)
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (strings.HasPrefix(d.Name(), ".") && d.Name() != ".." || d.Name() == "testdata" || d.Name() == "dist"):
			if path != "../.." {
				return filepath.SkipDir
			}
		case filepath.Ext(path) == ".go":
			name := filepath.ToSlash(strings.TrimPrefix(filepath.Dir(path), filepath.FromSlash("../../")))
			texts[name] += comments(t, path)
		}
		return nil
	})
	if err != nil || len(texts) < 100 {
		t.Fatalf("%d packages, %v", len(texts), err)
	}
	count(t, commentBudget, texts)
}

// comments returns the comments of a file as prose, without indented lines, which are code.
func comments(t *testing.T, path string) string {
	t.Helper()
	src, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	var s scanner.Scanner
	files := token.NewFileSet()
	s.Init(files.AddFile(path, files.Base(), len(src)), src, nil, scanner.ScanComments)
	for {
		_, tok, text := s.Scan()
		if tok == token.EOF {
			return b.String()
		}
		if rest, ok := strings.CutPrefix(text, "//"); tok == token.COMMENT && ok && (rest == "" || rest[0] == ' ') && !strings.HasPrefix(rest, "   ") {
			b.WriteString(code.ReplaceAllString(rest, "X") + "\n")
		}
	}
}

// count counts the markers of texts and compares them with a budget.
func count(t *testing.T, budget string, texts map[string]string) {
	t.Helper()
	allowed := budgets(t, budget)
	now := make(map[string]map[string]int)
	sums, total := make(map[string]int), 0
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		text := texts[name]
		words := len(strings.Fields(text))
		total += words
		now[name] = make(map[string]int)
		line := ""
		for _, m := range markers {
			found := m.expr.FindAllStringIndex(text, -1)
			now[name][m.name] = len(found)
			sums[m.name] += len(found)
			line += fmt.Sprintf("  %s %.1f", m.name, 1000*float64(len(found))/float64(max(words, 1)))
			if len(found) <= allowed[name][m.name] {
				continue
			}
			t.Errorf("%s: %d × %s, allowed are %d:", name, len(found), m.name, allowed[name][m.name])
			for _, at := range found {
				t.Errorf("    …%s…", strings.Join(strings.Fields(text[max(0, at[0]-40):min(len(text), at[1]+40)]), " "))
			}
		}
		t.Logf("%-30s %5d words, per 1,000:%s", name, words, line)
	}
	line := ""
	for _, m := range markers {
		line += fmt.Sprintf("  %s %.2f", m.name, 1000*float64(sums[m.name])/float64(total))
	}
	t.Logf("all: %d words, per 1,000:%s", total, line)
	if os.Getenv("UPDATE") != "" {
		shrink(t, budget, allowed, now)
	}
}

// budgets reads a budget. Texts that it does not list have a budget of 0.
func budgets(t *testing.T, budget string) map[string]map[string]int {
	t.Helper()
	b, err := os.ReadFile(budget)
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[string]map[string]int)
	for line := range strings.Lines(string(b)) {
		fields := strings.Fields(line)
		if len(fields) == 0 || strings.HasPrefix(line, "#") {
			continue
		}
		of := make(map[string]int)
		for _, f := range fields[1:] {
			name, count, _ := strings.Cut(f, "=")
			n, err := strconv.Atoi(count)
			if err != nil {
				t.Fatalf("%s: %q", budget, line)
			}
			of[name] = n
		}
		all[fields[0]] = of
	}
	return all
}

// shrink writes the lower of both counts.
func shrink(t *testing.T, budget string, allowed, now map[string]map[string]int) {
	t.Helper()
	var b strings.Builder
	b.WriteString("# Markers allowed in each text, see markers_test.go. These numbers only shrink.\n")
	for _, name := range slices.Sorted(maps.Keys(now)) {
		line := name
		for _, m := range markers {
			if n := min(now[name][m.name], allowed[name][m.name]); n > 0 {
				line += fmt.Sprintf(" %s=%d", m.name, n)
			}
		}
		if line != name {
			b.WriteString(line + "\n")
		}
	}
	if err := os.WriteFile(budget, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

var (
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)|<img src="([^"]+)"`)
	oddity  = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// anchors returns the anchors of a document's headings, as forges make them.
func anchors(text string) map[string]bool {
	all := make(map[string]bool)
	for _, m := range heading.FindAllStringSubmatch(fences.ReplaceAllString(text, ""), -1) {
		title := strings.ReplaceAll(m[1], "`", "")
		title = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`).ReplaceAllString(title, "$1")
		all[strings.ReplaceAll(oddity.ReplaceAllString(strings.ToLower(title), ""), " ", "-")] = true
	}
	return all
}

// TestDocumentLinks follows the links within the repository.
func TestDocumentLinks(t *testing.T) {
	for _, name := range documents(t) {
		text := fences.ReplaceAllString(read(t, name), "")
		for _, m := range link.FindAllStringSubmatch(code.ReplaceAllString(text, ""), -1) {
			target := cmp.Or(m[1], m[2])
			if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
				continue
			}
			path, anchor, _ := strings.Cut(target, "#")
			if path == "" {
				path = filepath.Base(name)
			}
			path = filepath.ToSlash(filepath.Join(filepath.Dir(name), path))
			if _, err := os.Stat(filepath.Join("../..", path)); err != nil {
				t.Errorf("%s: %s leads nowhere", name, target)
				continue
			}
			if anchor != "" && !anchors(read(t, path))[anchor] {
				t.Errorf("%s: %s has no heading for #%s", name, path, anchor)
			}
		}
	}
}

// TestLongDocumentsHaveContents checks that a page of more than 1,000 words starts with
// links to its parts.
func TestLongDocumentsHaveContents(t *testing.T) {
	for _, name := range documents(t) {
		text := read(t, name)
		if len(strings.Fields(text)) <= 1000 || name == "README.md" || name == "CHANGELOG.md" || name == "docs/situations.md" {
			continue
		}
		start, _, _ := strings.Cut(text, "\n## ")
		if !strings.Contains(start, "](#") {
			t.Errorf("%s has %d words and no contents list", name, len(strings.Fields(text)))
		}
	}
}

// TestDependenciesAreListed compares the modules that go.mod requires directly with the table in
// ARCHITECTURE.md, in both directions.
func TestDependenciesAreListed(t *testing.T) {
	_, table, _ := strings.Cut(read(t, "ARCHITECTURE.md"), "\n## Dependencies\n")
	modules := read(t, "go.mod")
	for _, m := range regexp.MustCompile(`(?m)^\t(\S+) v\S+$`).FindAllStringSubmatch(modules, -1) {
		name := strings.TrimPrefix(regexp.MustCompile(`/v\d+$`).ReplaceAllString(m[1], ""), "golang.org/")
		if short := name[strings.LastIndex(name, "/")+1:]; short != "fallback" && short != "service" && !strings.Contains(table, short) {
			t.Errorf("ARCHITECTURE.md does not list %s", m[1])
		}
	}
	for _, row := range regexp.MustCompile(`(?m)^\| ([^|]+) \|`).FindAllStringSubmatch(table, -1)[2:] {
		for name := range strings.SplitSeq(row[1], ", ") {
			name, _, _ = strings.Cut(strings.TrimSuffix(name, "/bpf"), " ")
			name = strings.TrimSuffix(name, "/html")
			if name != "database/sql" && name != "go-containerregistry" && !strings.Contains(modules, name) {
				t.Errorf("ARCHITECTURE.md lists %s, which go.mod does not require", name)
			}
		}
	}
}

// TestOneSpelling finds British spellings and spaces before percent signs.
func TestOneSpelling(t *testing.T) {
	british := regexp.MustCompile(`(?i)\b\w*(colour|honour|neighbour|behaviour|cancell(?:ed|ing)|learnt|labell|grey|licence|organis|recognis|minimis|centre)\w*|\d [%]`)
	for _, name := range documents(t) {
		for _, found := range british.FindAllString(prose(read(t, name)), -1) {
			t.Errorf("%s: %q is not this project's spelling", name, found)
		}
	}
}
