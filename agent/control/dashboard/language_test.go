package dashboard

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/agent/view"
	"github.com/starling-grid/starling/internal/testbrowser"
	"github.com/starling-grid/starling/internal/testcatalog"
	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/prefs"
	"github.com/starling-grid/starling/protocol"
)

const literal = `('(?:[^'\\\n]|\\.)*')`

var (
	translated = regexp.MustCompile(`\b(tr|rich|plural|count)\(`)
	calls      = []struct {
		name string
		args *regexp.Regexp // after the parenthesis. The last literal is the text
	}{
		{"tr", regexp.MustCompile(`^` + literal)},
		{"rich", regexp.MustCompile(`^` + literal)},
		{"plural", regexp.MustCompile(`^[^']*, ` + literal + `, ` + literal)},
		{"count", regexp.MustCompile(`^[^']*, ` + literal)},
	}
)

// modules returns the page's modules but language.js, by name.
func modules(t *testing.T) map[string]string {
	t.Helper()
	names, err := fs.Glob(embedded, "assets/*.js")
	must(t, err)
	all := make(map[string]string)
	for _, name := range names {
		b, err := fs.ReadFile(embedded, name)
		must(t, err)
		all[strings.TrimPrefix(name, "assets/")] = string(b)
	}
	delete(all, "language.js")
	return all
}

// texts returns the texts of the page: the arguments of tr, rich, plural and count in its modules, and
// the texts of the pages that are sent whole.
func texts(t *testing.T) map[string]bool {
	t.Helper()
	all := make(map[string]bool)
	for name, source := range modules(t) {
		for _, at := range translated.FindAllStringSubmatchIndex(source, -1) {
			call, rest := source[at[2]:at[3]], source[at[1]:]
			for _, c := range calls {
				if c.name != call {
					continue
				}
				m := c.args.FindStringSubmatch(rest)
				if m == nil {
					t.Errorf("%s: the text of %s is not a literal: %.80s", name, call, rest)
					continue
				}
				text := strings.Trim(m[len(m)-1], "'")
				if call == "count" {
					text = "{n} " + text + "s"
				}
				all[text] = true
			}
		}
	}
	all["default"], all["as {name}"] = true, true // origins of preferences
	for _, k := range prefs.Keys() {
		all[k.About], all[cmp.Or(k.Unit, k.About)] = true, true
	}
	index, err := fs.ReadFile(embedded, "assets/index.html")
	must(t, err)
	login := httptest.NewRecorder()
	door(login, httptest.NewRequest(http.MethodGet, "/", nil), "This address is not valid any longer, or not for this agent.")
	for _, m := range pageText.FindAllStringSubmatch(string(index)+login.Body.String()+`<a>Open the dashboard</a>`, -1) {
		if m[2] != "Starling" && m[2] != "starling dashboard" {
			all[m[2]] = true
		}
	}
	return all
}

// A string that reads like a text is an argument of tr, rich, plural or count.
func TestTextsAreTranslated(t *testing.T) {
	t.Parallel()
	quoted := regexp.MustCompile("'((?:[^'\\\\\n]|\\\\.)*)'|`([^`]*)`")
	value := regexp.MustCompile(`\$\{(?:[^{}]|\{[^{}]*\})*\}`)
	argument := regexp.MustCompile(`\b(tr|rich)\($|\b(plural|count)\(([^'` + "`" + `]*, )?('[^']*', )?$`)
	prose := regexp.MustCompile(`\b[A-Z][a-z]+|\b(an|the|of|to|is|are|was|in|on|for|no|not|and|or|at|by|with|it)\b.* |[a-z] (of|to|in|for|by|at)\b|[a-z][.;?!…]( |$)`)
	names := regexp.MustCompile(`^( · )?Starling$|^Escape$|^Wh$|^Content-Type$|^/|^starling [a-z ]*$`)
	var check func(name, code string)
	check = func(name, code string) {
		for _, at := range quoted.FindAllStringSubmatchIndex(code, -1) {
			text := code[at[0]+1 : at[1]-1]
			for _, inner := range value.FindAllString(text, -1) {
				check(name, inner)
			}
			text = value.ReplaceAllString(text, "")
			if prose.MatchString(text) && !names.MatchString(text) && !argument.MatchString(code[:at[0]]) {
				t.Errorf("%s: %q is not translated", name, text)
			}
		}
	}
	for name, source := range modules(t) {
		for line := range strings.Lines(source) {
			code, _, _ := strings.Cut(line, " // ")
			if !strings.HasPrefix(code, "//") && !strings.HasPrefix(code, "import ") {
				check(name, code)
			}
		}
	}
}

// The German catalog has entries for texts of the page only. Texts without a translation are listed.
func TestGermanCatalog(t *testing.T) {
	t.Parallel()
	found := texts(t)
	if len(found) < 300 {
		t.Errorf("only %d texts were found", len(found))
	}
	mistakes, missing := testcatalog.Compare(words.Language("de").Catalog("dashboard"), found)
	for _, mistake := range mistakes {
		t.Error(mistake)
	}
	for _, text := range missing {
		t.Logf("not translated: %q", text)
	}
}

// The pages that are sent whole, and the catalog, are in the language that the browser asks for.
func TestLanguageOfAnswers(t *testing.T) {
	t.Parallel()
	_, login := serve(t, &agent{own: prefs.Layer{Values: map[string]float64{"max_ncpus_pct": 50}}})
	base := "http://127.0.0.1:" + login.Port()
	token := cookie(login.Port()) + "=" + login.Query().Get("token")
	for _, tt := range []struct{ path, language, want string }{
		{"/login", "", `<html lang="en">`},
		{"/login", "de-CH, en;q=0.5", `<html lang="de">`},
		{"/login", "de-CH, en;q=0.5", `<label for="token">Adresse oder Token</label>`},
		{"/login?token=old", "de", "Diese Adresse gilt nicht mehr oder nicht für diesen Agenten."},
		{"/tasks", "de", `aria-label="Einzelheiten schließen"`},
		{"/tasks", "fr, de;q=0.5", `<html lang="de">`},
		{"/tasks", "fr", `aria-label="Close details"`},
		{"/catalog.json", "de", `"Tasks": "Aufgaben"`},
		{"/catalog.json", "en", `{}`},
		{"/api/prefs", "de", `"about":"rechnen, während der Computer im Akkubetrieb läuft"`},
		{"/api/prefs", "de", `"unit":"Minuten"`},
		{"/api/prefs", "de", `"origin":"Vorgabe"`},
		{"/api/prefs", "de", `"origin":"wie max_ncpus_pct"`},
		{"/api/computers/status?address=attic", "de", `"error":"dieses Dashboard zeigt nur diesen Computer"`},
	} {
		r, page := ask(t, http.MethodGet, base+tt.path, "", "Cookie", token, "Accept-Language", tt.language)
		if !strings.Contains(page, tt.want) || r.Header.Get("Vary") != "Accept-Language" {
			t.Errorf("%s in %q: Vary is %q, no %q in %s", tt.path, tt.language, r.Header.Get("Vary"), tt.want, page)
		}
	}
}

// A project's refusal of an account is in the language of the page, without BOINC's number.
func TestRefusedAccounts(t *testing.T) {
	t.Parallel()
	r := httptest.NewRequestWithContext(words.With(t.Context(), "de"), http.MethodPost, "/api/attach", nil)
	for num, want := range map[int]string{
		protocol.ErrNumNotFound:    "Es gibt kein Konto mit dieser Adresse.",
		protocol.ErrNumBadPassword: "Das Passwort ist falsch.",
		protocol.ErrNumNotUnique:   "Es gibt schon ein Konto mit dieser Adresse, aber mit einem anderen Passwort.",
		protocol.ErrNumBadUserName: "Das Projekt lehnt ab: no <b>.",
	} {
		w := httptest.NewRecorder()
		refuseAccount(w, r, fmt.Errorf("p.example: %w", &protocol.AccountError{Num: num, Msg: "no <b>."}))
		var got struct{ Error string }
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || got.Error != want {
			t.Errorf("%d: got %q, %v", num, got.Error, err)
		}
	}
}

// refuser is an agent that refuses requests.
type refuser struct{ agent }

func (a *refuser) SetMode(context.Context, control.Activity, prefs.ModeKind, time.Duration) error {
	return words.Refuse(words.T("the agent is stopping"))
}

func (a *refuser) Detach(_ context.Context, u string) error {
	return errors.Join(settings.NotAttached(u), errors.New("disk"))
}

// A refusal is in the language of the page, with its remedy.
func TestRefusals(t *testing.T) {
	t.Parallel()
	_, login := serve(t, new(refuser))
	base := "http://127.0.0.1:" + login.Port()
	token := cookie(login.Port()) + "=" + login.Query().Get("token")
	for _, tt := range []struct{ path, body, english, german string }{
		{"/api/mode", `{"mode":"never"}`, "the agent is stopping", "Der Agent wird gerade beendet"},
		{"/api/mode", `{"mode":"off"}`, `unknown mode "off"; use always, auto or never`, `Unbekannter Modus "off"; möglich sind always, auto und never`},
		{"/api/mode", `{`, "invalid request: unexpected EOF", "Ungültige Anfrage: unexpected EOF"},
		{"/api/drain", `{"scope":"now"}`, `unknown scope "now" of a drain; use running, checkpoint or all`, `Unbekannter Umfang "now" eines Leerens; möglich sind running, checkpoint und all`},
		{"/api/detach", `{"project":"http://p.example/"}`, "http://p.example/: not attached\ndisk", "http://p.example/: nicht verbunden\ndisk"},
		{
			"/api/attach/config", `{"url":"http://localhost/"}`, `master URL "http://localhost/": the host needs a dot for BOINC's clients (127.0.0.1 rather than localhost)`,
			`URL des Projekts "http://localhost/": Der Rechnername braucht für die Clients von BOINC einen Punkt (127.0.0.1 statt localhost)`,
		},
		{"/api/attach", `{"url":"ftp://p.example/"}`, `master URL "ftp://p.example/": want http:// or https://`, `URL des Projekts "ftp://p.example/": Sie muss mit http:// oder https:// beginnen`},
		{"/api/prefs", `{"values":{"max_cpus":2,"cpus":1}}`, "cpus: unknown key", "cpus: unbekannter Schlüssel"},
		{"/api/prefs", `{"values":{"cpu_usage_limit":500}}`, "prefs_override.toml:1: cpu_usage_limit: 500 is not between 0 and 100", "prefs_override.toml:1: cpu_usage_limit: 500 liegt nicht zwischen 0 und 100"},
		{"/api/computers/pair", `{}`, "this dashboard shows this computer only", "dieses Dashboard zeigt nur diesen Computer"},
	} {
		for language, want := range map[string]string{"": tt.english, "de": tt.german} {
			_, body := ask(t, http.MethodPost, base+tt.path, tt.body, "Cookie", token, "Content-Type", "application/json", "Origin", base, "Accept-Language", language)
			var got struct{ Error string }
			if err := json.Unmarshal([]byte(body), &got); err != nil || got.Error != want {
				t.Errorf("%s %s in %q: got %s, want %q", tt.path, tt.body, language, body, want)
			}
		}
	}
}

// linguist is an agent that reports the language in which it is asked.
type linguist struct{ agent }

func (a *linguist) Dashboard(ctx context.Context) (view.Page, error) {
	return view.Page{Host: view.Host{Name: string(words.LanguageOf(ctx))}}, nil
}

// Pages in different languages are open at once.
func TestLanguageOfEvents(t *testing.T) {
	t.Parallel()
	s := &Server{Agent: new(linguist)}
	for _, l := range []words.Language{"en", "de", "en", "de"} {
		d, err := s.look(words.With(t.Context(), l))
		if got := string(d.parts["page"]["host"]); err != nil || !strings.Contains(got, `"name":"`+string(l)+`"`) {
			t.Errorf("in %s: %s, %v", l, got, err)
		}
	}
}

var inBraces = regexp.MustCompile(`\{\w+\}`)

// everyText returns the texts of the page, with those for screen readers.
const everyText = `(() => {
	const all = [], walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	while (walk.nextNode()) if (!walk.currentNode.parentElement.closest('script, noscript')) all.push(walk.currentNode.data.trim());
	for (const name of ['aria-label', 'title', 'placeholder', 'data-label']) for (const e of document.querySelectorAll('[' + name + ']')) all.push(e.getAttribute(name));
	return [...new Set(all)];
})()`

// TestGerman looks at the page in German: none of its texts is in English, and none is too long for a
// phone.
func TestGerman(t *testing.T) {
	t.Parallel()
	var german map[string]json.RawMessage
	must(t, json.Unmarshal(words.Language("de").Catalog("dashboard"), &german))
	english := make(map[string]*regexp.Regexp) // of texts that are different in German
	for text, translation := range german {
		// Shorter ones are parts of the agent's texts as well.
		if long := len(inBraces.ReplaceAllString(text, "")) >= 15 || !inBraces.MatchString(text); long && strings.Trim(string(translation), `"`) != text {
			english[text] = regexp.MustCompile("^" + regexp.MustCompile(`\\\{\w+\\\}`).ReplaceAllString(regexp.QuoteMeta(text), ".+") + "$")
		}
	}
	a := past(30)
	a.page, a.seqno = busy(100), 40
	a.page.Temperature = 0 // memory is in its place, which is longer
	b, base := openUntil(t, t.Context(), a, testbrowser.Language("de-AT,de;q=0.8"))
	b.See("the headings", `document.documentElement.lang === 'de' && document.getElementById('now-title').textContent === 'Rechnet an 8 Aufgaben' && document.querySelector('nav [aria-current=page]').textContent === 'Übersicht'`)
	b.See("numbers and dates", `document.querySelector('#achieved tr').textContent === 'Einstein@Home50 / 53 %2.210183.204'`)
	b.See("the plural", `document.getElementById('recent').textContent === '212 abgeschlossen, 1 fehlgeschlagen in 7 Tagen'`)
	b.Do("be a phone", chromedp.EmulateViewport(320, 640, chromedp.EmulateScale(2)))
	b.Do("select tasks", chromedp.Navigate(base+"/tasks"), chromedp.Click("#tasks-table thead input"))
	b.See("what can be done with them", `(e => !e.hidden && e.offsetHeight < 120 && [...e.children].every(x => x.getBoundingClientRect().right <= innerWidth))(document.getElementById('selection'))`)
	for _, path := range []string{"/", "/tasks", "/projects", "/history", "/notices", "/computer", "/computers", "/preferences", "/log", "/tasks?task=https%3A%2F%2Feinstein.example%2F%20h1_0421.50_O4_3_0", "/projects?project=https%3A%2F%2Flhc.example%2F"} {
		b.Do("open "+path, chromedp.Navigate(base+path))
		b.See("it is live", `document.getElementById('link')?.textContent === 'live' && document.querySelector('main > section:not([hidden]) h2').textContent !== '…'`)
		b.See(path+" is not wider than the phone, no tab has two lines, and no figure is cut off", `document.documentElement.scrollWidth <= 320 && document.getElementById('tabs').offsetHeight < 60 && [...document.querySelectorAll('.figure')].every(e => e.scrollWidth <= e.clientWidth)`)
		for _, shown := range testbrowser.Value[[]string](b, everyText) {
			for text, pattern := range english {
				if pattern.MatchString(shown) {
					t.Errorf("%s: %q is in English (%q)", path, shown, text)
				}
			}
		}
	}
}
