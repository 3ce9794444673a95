package console_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/server/operate/console"
	"github.com/starling-grid/starling/server/project"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/workgen"
	"github.com/starling-grid/starling/servertest"
)

// A desk is the console of a project that computed something: job "good" has a canonical
// result, "bad" was given up, and "waiting" waits.
type desk struct {
	*servertest.Project
	t       *testing.T
	project *project.Project
	base    string
	client  *http.Client
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	d := &desk{Project: servertest.Start(t), t: t}
	d.App("upper", func(_ context.Context, task *servertest.Task) error {
		if in := task.Input("in"); string(in) != "bad" {
			task.Output("out", bytes.ToUpper(in))
			return nil
		}
		return errors.New("this input is <no> good")
	})
	d.Volunteer("ada")
	d.Submit("upper", []byte("good"), func(s *workgen.Spec) { s.Batch = 7 }).Wait(t.Context())
	d.Volunteer("bob")
	d.Submit("upper", []byte("bad"), func(s *workgen.Spec) { s.MaxErrorResults = 1 }).Wait(t.Context())
	d.App("later", nil)
	var err error
	if d.project, err = project.Open(t.Context(), d.Dir, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.project.Close() })
	srv := httptest.NewServer(console.New(d.project).Handler())
	t.Cleanup(srv.Close)
	d.base = srv.URL + "/"
	d.client = d.browser()
	return d
}

// browser returns a browser that is not signed in.
func (d *desk) browser() *http.Client {
	jar, err := cookiejar.New(nil)
	if err != nil {
		d.t.Fatal(err)
	}
	return &http.Client{Jar: jar}
}

func (d *desk) link() string { return console.Enter(d.project, "grace", time.Now()) }

// see gets a page, or posts a form, and checks that the answer has certain texts.
func (d *desk) see(code int, path string, form url.Values, says ...string) string {
	d.t.Helper()
	method, body := "GET", io.Reader(nil)
	if form != nil {
		method, body = "POST", strings.NewReader(form.Encode())
	}
	req, err := http.NewRequestWithContext(d.t.Context(), method, d.base+path, body)
	if err != nil {
		d.t.Fatal(err)
	}
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	res, err := d.client.Do(req)
	if err != nil {
		d.t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	text := string(b)
	if err != nil || res.StatusCode != code {
		d.t.Errorf("%s %s: HTTP %d, %v, want %d:\n%s", method, path, res.StatusCode, err, code, text)
	}
	for _, want := range says {
		if !strings.Contains(text, want) {
			d.t.Errorf("%s %s does not say %q:\n%s", method, path, want, text)
		}
	}
	return text
}

// enter presses the button of the page that a link opens.
func (d *desk) enter(code int, link string, says ...string) {
	d.t.Helper()
	_, token, _ := strings.Cut(link, "token=")
	d.see(code, "enter", url.Values{"token": {token}}, says...)
}

// A session that ended on the server has ended for every copy of its cookie, and a used link is
// used up for all processes.
func TestSigningOutEndsTheSession(t *testing.T) {
	d := newDesk(t)
	link := d.link()
	d.enter(200, link, "Overview")
	at, _ := url.Parse(d.base)
	copied := d.client.Jar.Cookies(at)
	d.see(200, "leave", url.Values{}, "Signed out")
	d.client = d.browser()
	d.client.Jar.SetCookies(at, copied)
	d.see(403, "works", nil)

	other := httptest.NewServer(console.New(d.project).Handler())
	t.Cleanup(other.Close)
	d.base = other.URL + "/"
	d.enter(403, link, "already used")
}

// Without a link, which works once, it is not possible to see or do anything.
func TestSigningIn(t *testing.T) {
	d := newDesk(t)
	for _, path := range []string{"", "works", "work/1", "user/1", "audit"} {
		if text := d.see(403, path, nil, "starling-server admin DIR"); strings.Contains(text, "grace") || strings.Contains(text, "upper") {
			t.Errorf("%s tells a stranger: %s", path, text)
		}
	}
	d.see(403, "do/apps-stop", url.Values{"id": {"upper"}})
	link := d.link()
	for _, bad := range []string{"enter", "enter?token=", "enter?token=a.b.c.d", link[:len(link)-1] + "x", console.Enter(d.project, "grace", time.Now().Add(-10*time.Minute))} {
		d.see(403, bad, nil, "already used or has expired")
		d.enter(403, bad, "already used or has expired")
	}
	d.see(200, link, nil, "Sign in") // as a program does that looks at links in mails
	d.see(200, link, nil, "Sign in")
	d.enter(200, link, "Overview", "Signed in as grace")
	d.see(200, "works", nil)
	d.client = d.browser()
	d.enter(403, link, "already used")
	d.enter(200, d.link())
	d.see(200, "leave", url.Values{}, "Signed out")
	d.see(403, "works", nil)

	// A page of another site cannot use the browser's session, and the token of a link is not valid
	// as the cookie of one.
	d.enter(200, d.link())
	req, _ := http.NewRequestWithContext(t.Context(), "POST", d.base+"do/apps-stop", strings.NewReader("id=upper"))
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Sec-Fetch-Site", "cross-site")
	res, err := d.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusForbidden {
		t.Errorf("another site's form: HTTP %d", res.StatusCode)
	}
	token, _ := url.Parse(d.link())
	d.client = d.browser()
	at, _ := url.Parse(d.base)
	d.client.Jar.SetCookies(at, []*http.Cookie{{Name: "starling_operator", Value: token.Query().Get("token")}})
	d.see(403, "works", nil)
}

// Everything that is known can be found: from the overview to a line of stderr.
func TestLooking(t *testing.T) {
	d := newDesk(t)
	d.enter(200, d.link(), "Results per hour", "Reported", "Versions that fail", "1.00", "Queues")
	d.see(200, "works", nil, `<a href="/work/1">1</a>`, "error: too many error results", "canonical")
	text := d.see(200, "works?state=error&app=upper&limit=5", nil, `<a href="/work/2">2</a>`, "1 shown", `value="upper"`, "<option selected>error</option>")
	if strings.Contains(text, "/work/1\"") {
		t.Errorf("the filter lets the other through: %s", text)
	}
	d.see(422, "works?state=odd", nil, "State &#34;odd&#34;: want canonical, error")
	d.see(422, "works?app=nope", nil, "App nope: not found")
	d.see(200, "work/2", nil, "max error results", "too many error results", `<a href="/result/`, "<h2>history</h2>", "error_mask")
	d.see(200, "results?outcome=client_error", nil, "client_error", `<a href="/host/1">`)
	d.see(200, "host/1", nil, "ada", "Ban the computer", `<a href="/user/1">`)
	d.see(200, "user/1", nil, "email addr", `<a href="/host/1">`)
	d.see(200, "batch/7", nil, "workunits done", "outcomes assimilated", "fraction done", "estimate text", "<dd>done</dd>")
	d.see(404, "work/99", nil, "There is no workunit 99")
	d.see(404, "host/x", nil)
	for _, page := range []string{"apps", "versions", "hosts", "users", "tokens", "batches", "audit"} {
		d.see(200, page, nil)
	}
	var failed store.Result
	err := d.project.Store.View(t.Context(), func(tx *store.View) error {
		list, _, err := tx.ListResults(store.ResultFilter{WorkunitID: 2, Limit: 1})
		if err == nil {
			failed = list[0]
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	d.see(200, "result/"+failed.Name, nil, "stderr out", "this input is &lt;no&gt; good", `<a href="/work/2">2</a>`)
}

// The actions of commands are possible here, and the audit log has each with its actor.
func TestActing(t *testing.T) {
	d := newDesk(t)
	d.enter(200, d.link())
	d.see(200, "do/apps-stop", url.Values{"id": {"upper"}}, "upper is stopped: 0 tasks waiting", "stopped")
	d.see(404, "do/apps-stop", url.Values{"id": {"nope"}}, "App nope: not found")
	d.see(200, "do/apps-start", url.Values{"id": {"upper"}}, "upper is started")
	d.see(200, "do/work-retry", url.Values{"id": {"2"}, "reason": {"a@example.org says so"}}, "1 refused")
	d.see(200, "do/work-retry", url.Values{"id": {"2"}, "again": {"yes"}}, "1 workunit retried")
	d.see(200, "do/work-set", url.Values{"id": {"2"}, "priority": {"7"}}, "1 workunit changed", "priority 0 → 7")
	d.see(422, "do/work-set", url.Values{"id": {"2"}, "priority": {"high"}}, "&#34;high&#34; is not a number")
	d.see(200, "do/work-cancel", url.Values{"id": {"1"}}, "0 workunits cancelled. 1 already had an outcome.")
	for _, action := range []string{"cancel", "undo", "retry", "set"} {
		d.see(422, "do/batch-"+action, url.Values{"id": {"0"}, "yes": {"on"}, "priority": {"1"}}, "batches are numbered from 1")
	}
	banned := d.see(200, "do/host-ban", url.Values{"id": {"1"}}, "The computer is banned", "max results day", "Lift the ban")
	if free := d.see(200, "do/host-unban", url.Values{"id": {"1"}}, "no longer banned", "Ban the computer"); strings.Contains(banned, "Ban the computer") || strings.Contains(free, "Lift the ban") {
		t.Error("an action is offered that would change nothing")
	}
	d.see(200, "do/user-ban", url.Values{"id": {"1"}, "reason": {"cheats"}}, "The account is banned", "cheats")
	d.see(200, "do/user-unban", url.Values{"id": {"1"}}, "no longer banned")
	d.see(200, "do/user-passwd", url.Values{"id": {"1"}}, "The new password is ")
	d.see(422, "do/versions-remove", url.Values{"id": {"1"}}, "withdraw it first")
	d.see(200, "do/versions-deprecate", url.Values{"id": {"1"}, "resend": {"yes"}}, "is no longer sent", "No version of upper is left")
	d.see(200, "do/versions-remove", url.Values{"id": {"1"}}, "The version is removed", "removed")
	d.see(422, "do/user-delete", url.Values{"id": {"1"}}, "confirm it")
	d.see(200, "do/user-delete", url.Values{"id": {"1"}, "yes": {"yes"}}, "The account is deleted", "deleted time")
	d.see(422, "do/tokens-revoke", url.Values{"id": {"lab"}}, "no token called")
	if err := d.project.Store.Update(t.Context(), func(tx *store.Tx) error {
		_, err := tx.InsertToken(store.Token{CreateTime: time.Now(), Name: "lab", Hash: "lab", Quota: 7})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	d.see(200, "do/tokens-set", url.Values{"id": {"lab"}, "max-gb": {"1.5"}, "max-cpu-hours": {"20"}, "weight": {"3"}}, "The limits are changed", "0 of 7", "0 bytes of 1.5 GB", "0 of 20")
	d.see(422, "do/tokens-set", url.Values{"id": {"lab"}, "quota": {"-1"}}, "--quota is -1")
	d.see(422, "do/tokens-set", url.Values{"id": {"lab"}, "quota": {"1.5"}}, "is not a number of workunits")
	d.see(422, "do/tokens-set", url.Values{"id": {"lab"}, "weight": {" "}}, "Nothing was changed: fill in the limits to change")
	d.see(200, "do/batch-cancel", url.Values{"id": {"7"}}, "0 workunits would be cancelled. 1 already had an outcome. Nothing has changed.")
	d.see(200, "do/work-cancel", url.Values{"id": {"2"}, "reason": {"a slip"}}, "1 workunit cancelled.")
	d.see(200, "do/work-undo", url.Values{"id": {"2"}}, "1 workunit revived.", "work cancel: a slip", "work cancel --undo")
	d.see(200, "do/batch-undo", url.Values{"id": {"7"}, "yes": {"yes"}}, "0 workunits revived. 1 refused: it was not cancelled.")
	d.see(404, "do/batch-cancel", url.Values{"id": {"3"}}, "Batch 3: not found")
	d.see(404, "do/everything", url.Values{}, "There is no such action.")
	d.see(404, "everything", nil, "There is no such page.", "Overview")
	text := d.see(200, "audit", nil, "grace", "work retry", "2 --again", "2 --priority=7", "user ban", "version deprecate", "1 --resend", "lab --max-gb=1.5 --max-cpu-hours=20 --weight=3", "app nope: not found", "(address) says so", "--batch=3")
	if strings.Contains(text, "example.org") || strings.Contains(text, "new password") {
		t.Errorf("the audit log tells too much: %s", text)
	}
	entries, err := store.Read(t.Context(), d.project.Store, func(tx *store.View) ([]store.AuditEntry, error) { return tx.ListAudit(store.AuditFilter{Limit: 100}) })
	if err != nil || len(entries) != 32 || entries[0].Via != "page" || entries[0].Actor != "grace" {
		t.Errorf("%d entries, %v: %+v", len(entries), err, entries)
	}
}
