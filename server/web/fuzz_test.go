package web

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/starling-grid/starling/server/store/storetest"
	"github.com/starling-grid/starling/server/web/account"
)

// A form is answered with a page, whatever it holds, and no page repeats markup of it.
func FuzzForms(f *testing.F) {
	st := storetest.Open(f, "")
	none := http.NotFoundHandler()
	h, err := (&Site{
		Serves: func(string) bool { return true }, Name: "Fuzz", Accounts: account.Rules{MasterURL: "http://127.0.0.1/", Settings: account.Settings{MinPasswdLength: 6}},
		Store: st, Log: slog.New(slog.DiscardHandler), Scheduler: none, Events: none, Upload: none,
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
