// Package testcatalog compares the catalog of a language with the texts of a program, for tests.
package testcatalog

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
)

// A Text is an English text of the program. Plural is true if a number selects its form.
type Text struct {
	Plural bool
}

// Compare compares a catalog with the texts of a program. It returns the mistakes of the catalog,
// which are entries for unknown texts and translations with other names in braces or other forms, and
// the texts that are only in English.
func Compare(catalog []byte, texts map[string]Text) (mistakes, missing []string) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(catalog, &all); err != nil {
		return []string{err.Error()}, nil
	}
	for _, english := range slices.Sorted(maps.Keys(all)) {
		if text, known := texts[english]; !known {
			mistakes = append(mistakes, fmt.Sprintf("the program does not have the text %q", english))
		} else if err := compare(english, text, all[english]); err != nil {
			mistakes = append(mistakes, fmt.Sprintf("%q: %v", english, err))
		}
	}
	for _, english := range slices.Sorted(maps.Keys(texts)) {
		if _, there := all[english]; !there {
			missing = append(missing, english)
		}
	}
	return mistakes, missing
}

// compare compares one text with its translation, which is a string or an object of strings by plural
// category.
func compare(english string, text Text, translation json.RawMessage) error {
	var one string
	forms := make(map[string]string)
	if json.Unmarshal(translation, &one) == nil {
		forms["other"] = one
	} else if err := json.Unmarshal(translation, &forms); err != nil {
		return err
	} else if !text.Plural {
		return fmt.Errorf("a translation with plural forms, but the text is not about a number")
	}
	if forms["other"] == "" {
		return fmt.Errorf(`the form "other" is missing`)
	}
	for _, form := range slices.Sorted(maps.Keys(forms)) {
		want, got := names(english), names(forms[form])
		if form != "other" { // "a task" is without a number
			want, got = without(want, "{n}"), without(got, "{n}")
		}
		if !slices.Equal(got, want) {
			return fmt.Errorf("%q has the names %q", forms[form], got)
		}
	}
	return nil
}

var inBraces = regexp.MustCompile(`\{\w+\}`)

// names returns the names in braces of a template, sorted and each once.
func names(template string) []string {
	all := inBraces.FindAllString(template, -1)
	slices.Sort(all)
	return slices.Compact(all)
}

func without(all []string, name string) []string {
	return slices.DeleteFunc(all, func(s string) bool { return s == name })
}
