// Package testcatalog compares the catalog of a language with the texts of a program, in tests.
package testcatalog

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"testing"
)

// A Text is a text of the program. Plural is true if a number selects its form.
type Text struct {
	Plural bool
}

var names = regexp.MustCompile(`\{\w+\}`)

// Check compares a catalog with the texts of a program, which are English. An entry for a text that
// the program no longer has fails the test, and so does one with other names in braces or forms than
// the text. It logs the texts without a translation, and returns them.
func Check(t *testing.T, catalog []byte, texts map[string]Text) (missing []string) {
	t.Helper()
	var all map[string]json.RawMessage
	if err := json.Unmarshal(catalog, &all); err != nil {
		t.Fatal(err)
	}
	for _, english := range slices.Sorted(maps.Keys(all)) {
		text, there := texts[english]
		if !there {
			t.Errorf("the program has no text %q", english)
			continue
		}
		var one string
		forms := make(map[string]string)
		if json.Unmarshal(all[english], &one) == nil {
			forms["other"] = one
		} else if err := json.Unmarshal(all[english], &forms); err != nil || !text.Plural {
			t.Errorf("%q: its translation must be a string", english)
		}
		if forms["other"] == "" {
			t.Errorf("%q: it has no form \"other\"", english)
		}
		for form, s := range forms {
			want, got := used(english), used(s)
			if text.Plural && form != "other" { // "a task" is without a number
				want, got = without(want, "{n}"), without(got, "{n}")
			}
			if !slices.Equal(got, want) {
				t.Errorf("%q: %q has the names %q", english, s, got)
			}
		}
	}
	for _, english := range slices.Sorted(maps.Keys(texts)) {
		if _, there := all[english]; !there {
			t.Logf("no translation: %q", english)
			missing = append(missing, english)
		}
	}
	return missing
}

// used returns the names in braces of a template, sorted and each once.
func used(template string) []string {
	all := names.FindAllString(template, -1)
	slices.Sort(all)
	return slices.Compact(all)
}

func without(all []string, name string) []string {
	return slices.DeleteFunc(all, func(s string) bool { return s == name })
}
