// Package testcatalog compares the catalog of a language with the texts of a program, for tests.
package testcatalog

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
)

// Compare compares a catalog with the English texts of a program. It returns the mistakes of the
// catalog, which are entries for unknown texts and translations with other names in braces, and the
// texts that are only in English.
func Compare(catalog []byte, texts map[string]bool) (mistakes, missing []string) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(catalog, &all); err != nil {
		return []string{err.Error()}, nil
	}
	for _, english := range slices.Sorted(maps.Keys(all)) {
		if !texts[english] {
			mistakes = append(mistakes, fmt.Sprintf("the program does not have the text %q", english))
		} else if err := compare(english, all[english]); err != nil {
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
func compare(english string, translation json.RawMessage) error {
	var one string
	forms := make(map[string]string)
	if json.Unmarshal(translation, &one) == nil {
		forms["other"] = one
	} else if err := json.Unmarshal(translation, &forms); err != nil {
		return err
	}
	if forms["other"] == "" {
		return fmt.Errorf(`the form "other" is missing`)
	}
	want := names(english)
	for _, form := range slices.Sorted(maps.Keys(forms)) {
		got := names(forms[form])
		unknown := slices.ContainsFunc(got, func(name string) bool { return !slices.Contains(want, name) })
		if unknown || form == "other" && len(got) < len(want) { // "a task" is without a number
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
