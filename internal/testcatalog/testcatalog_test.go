package testcatalog

import (
	"strings"
	"testing"
)

func TestCompare(t *testing.T) {
	t.Parallel()
	texts := map[string]bool{"All": true, "Show {page}": true, "{n} tasks": true, "Never": true}
	for _, tt := range []struct{ catalog, mistake, missing string }{
		{`{"All": "Alle", "Show {page}": "{page} anzeigen", "{n} tasks": {"one": "eine Aufgabe", "other": "{n} Aufgaben"}}`, "", "Never"},
		{`{"{n} tasks": "{n} Aufgaben"}`, "", "All|Never|Show {page}"},
		{`{"Old": "Alt"}`, `the program does not have the text "Old"`, ""},
		{`{"Show {page}": "{seite} anzeigen"}`, `the names ["{seite}"]`, ""},
		{`{"Show {page}": "Anzeigen"}`, `the names []`, ""},
		{`{"{n} tasks": {"one": "{n} Aufgabe"}}`, `the form "other" is missing`, ""},
		{`{"{n} tasks": {"other": "Aufgaben"}}`, `the names []`, ""},
		{`{"All": 1}`, "cannot unmarshal number", ""},
		{`{`, "unexpected end", ""},
	} {
		mistakes, missing := Compare([]byte(tt.catalog), texts)
		if tt.mistake == "" && len(mistakes) > 0 || tt.mistake != "" && (len(mistakes) != 1 || !strings.Contains(mistakes[0], tt.mistake)) {
			t.Errorf("%s: mistakes %q, want %q", tt.catalog, mistakes, tt.mistake)
		}
		if got := strings.Join(missing, "|"); tt.missing != "" && got != tt.missing {
			t.Errorf("%s: missing %q, want %q", tt.catalog, got, tt.missing)
		}
	}
}
