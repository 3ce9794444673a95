package dashboard

import (
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The page's modules import each other in one direction.
func TestModulesHaveNoImportCircle(t *testing.T) {
	names, err := fs.Glob(embedded, "assets/*.js")
	if err != nil || len(names) < 10 {
		t.Fatalf("modules %q, %v", names, err)
	}
	imported := regexp.MustCompile(`(?m)^import .* from '\./(.*)';$`)
	done := make(map[string]bool)
	var visit func(name string, path []string)
	visit = func(name string, path []string) {
		if i := slices.Index(path, name); i >= 0 {
			t.Errorf("a circle: %s", strings.Join(append(path[i:], name), " imports "))
			return
		}
		if done[name] {
			return
		}
		b, err := fs.ReadFile(embedded, "assets/"+name)
		must(t, err)
		for _, m := range imported.FindAllStringSubmatch(string(b), -1) {
			visit(m[1], append(slices.Clip(path), name))
		}
		done[name] = true
	}
	for _, name := range names {
		visit(strings.TrimPrefix(name, "assets/"), nil)
	}
}
