package web

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/protocol/bxml"
	"github.com/starling-grid/starling/server/store"
)

// A form is answered with a page, whatever it holds, and no page repeats markup of it.
func FuzzForms(f *testing.F) {
	st, err := store.OpenMemory(f.Context())
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = st.Close() })
	none := http.NotFoundHandler()
	h, err := (&Site{
		Serves: func(string) bool { return true }, Name: "Fuzz", MasterURL: "http://127.0.0.1/", MinPasswordLength: 6,
		Store: st, Log: slog.New(slog.DiscardHandler), Scheduler: none, Upload: none,
	}).Handler()
	if err != nil {
		f.Fatal(err)
	}
	pages := []string{"signup", "login", "forgot", "reset", "account", "logout"}
	f.Add(0, "email=a%40example.org&password=123&name=<script>")
	f.Add(1, "email=a%40example.org&password=secret7")
	f.Add(3, "token=1.2.3&password=secret7")
	f.Fuzz(func(t *testing.T, page int, body string) {
		for _, method := range []string{http.MethodPost, http.MethodGet} {
			r := httptest.NewRequest(method, "/"+pages[uint(page)%uint(len(pages))], strings.NewReader(body))
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if w.Code >= 500 {
				t.Errorf("HTTP %d: %s", w.Code, w.Body)
			}
			if strings.Contains(w.Body.String(), "<script") {
				t.Errorf("markup of the form in %s", w.Body)
			}
		}
	})
}

// Preferences of the page are numbers that can be read again, and what the page does not
// know stays.
func FuzzPrefs(f *testing.F) {
	f.Add("<mod_time>1</mod_time><vm_max_used_pct>33</vm_max_used_pct><venue name=\"home\"><max_ncpus_pct>1</max_ncpus_pct></venue>", "max_ncpus_pct=50&idle_time_to_run=1&run_on_batteries=on")
	f.Fuzz(func(t *testing.T, xml, body string) {
		form, err := url.ParseQuery(body)
		if err != nil {
			return
		}
		for _, p := range editable {
			if !p.Bool() && !form.Has(p.Name) {
				form.Set(p.Name, p.show(p.Default))
			}
		}
		_ = prefsForm(xml)
		text, err := editPrefs(xml, form, time.Unix(1e9, 0))
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
		for _, p := range prefsForm(text) {
			if p.Name == "max_ncpus_pct" && (p.Value == "" || strings.ContainsAny(p.Value, "<>&")) {
				t.Errorf("max_ncpus_pct is %q in %s", p.Value, text)
			}
		}
	})
}
