package pages

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/protocol/bxml"
)

// Preferences from the page are numbers that can be read again, and preferences that the page does
// not support are kept.
func FuzzPrefs(f *testing.F) {
	f.Add("<mod_time>1</mod_time><vm_max_used_pct>33</vm_max_used_pct><venue name=\"home\"><max_ncpus_pct>1</max_ncpus_pct></venue>", "max_ncpus_pct=50&idle_time_to_run=1&run_on_batteries=on", uint8(0))
	f.Fuzz(func(t *testing.T, xml, body string, venue uint8) {
		at := []string{"", "home", "work"}[venue%3]
		form, err := url.ParseQuery(body)
		if err != nil {
			return
		}
		for _, p := range editable {
			if !p.Bool() && !form.Has(p.Name) {
				form.Set(p.Name, p.show(p.Default))
			}
		}
		_ = prefsForm(xml, at)
		text, err := editPrefs(xml, at, form, time.Unix(1e9, 0))
		if err != nil {
			return
		}
		s := bxml.NewScanner([]byte("<p>" + text + "</p>"))
		if err := s.Find("p"); err != nil {
			t.Fatal(err)
		}
		first := ""
		for name := range s.Children() {
			if first == "" {
				first = name
			}
		}
		if first != "mod_time" {
			t.Errorf("begins with %q: %s", first, text)
		}
		for _, p := range prefsForm(text, at) {
			if p.Name == "max_ncpus_pct" && (p.Value == "" || strings.ContainsAny(p.Value, "<>&")) {
				t.Errorf("max_ncpus_pct is %q in %s", p.Value, text)
			}
		}
	})
}
