package server_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/starling-grid/starling/internal/testwait"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/operate"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/store/storetest"
)

// A visitor is a browser without a screen.
type visitor struct {
	t    *testing.T
	c    *http.Client
	base string
}

func newVisitor(t *testing.T, base string) *visitor {
	jar, err := cookiejar.New(nil)
	must(t, err)
	return &visitor{t, &http.Client{Jar: jar}, base}
}

func (v *visitor) do(method, page string, form url.Values, header ...string) (int, string) {
	v.t.Helper()
	target := page
	if !strings.Contains(page, "://") {
		target = v.base + page
	}
	req, err := http.NewRequestWithContext(v.t.Context(), method, target, strings.NewReader(form.Encode()))
	if err != nil {
		v.t.Fatal(err)
	}
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := v.c.Do(req)
	if err != nil {
		v.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

func (v *visitor) wants(code int, words ...string) func(int, string) {
	return func(got int, page string) {
		v.t.Helper()
		if got != code {
			v.t.Errorf("got %d, want %d: %s", got, code, page)
		}
		for _, w := range words {
			if !strings.Contains(page, w) {
				v.t.Errorf("%q is not in %s", w, page)
			}
		}
	}
}

// TestAccountPages follows an account's owner through the life of the account.
func TestAccountPages(t *testing.T) {
	t.Parallel()
	srv := httptest.NewUnstartedServer(nil)
	base := "http://" + srv.Listener.Addr().String() + "/site/"
	w := newWorld(t, `master_url = "`+master+`"`, `master_url = "`+base+`"`)
	srv.Config.Handler = w.web
	srv.Start()
	defer srv.Close()
	v := newVisitor(t, base)

	v.wants(200, "Join")(v.do("GET", "", nil))
	v.wants(200, "Sign up", "starling attach "+base)(v.do("GET", "join", nil))
	v.wants(200, "Log in")(v.do("GET", "account", nil)) // sent to the log-in page
	form := url.Values{"email": {"Eve@Example.org"}, "password": {"short"}, "name": {`"><script>alert(1)</script>`}}
	v.wants(422, "The password is too short: at least 6 characters are required", "&lt;script&gt;")(v.do("POST", "signup", form))
	form.Set("password", "long enough")
	v.wants(422, "Not a valid user name: enter one line without &lt; and &gt;")(v.do("POST", "signup", form))
	form.Set("name", "Eve & co")
	v.wants(200, "Eve &amp; co", "eve@example.org", "--key")(v.do("POST", "signup", form))
	v.wants(200, "No computer has contacted the project yet")(v.do("GET", "computers", nil))
	u := w.userByEmail("eve@example.org")
	v.wants(200, string(u.Authenticator))(v.do("GET", "account", nil))

	// Preferences: elements that the page does not support are kept.
	w.must(w.p.Store.Update(t.Context(), func(tx *store.Tx) error {
		return tx.SetGlobalPrefs(u.ID, "", `<mod_time>1</mod_time><vm_max_used_pct>33</vm_max_used_pct><venue name="home"><max_ncpus_pct>1</max_ncpus_pct></venue>`)
	}))
	edit := url.Values{"what": {"prefs"}}
	_, page := v.do("GET", "preferences", nil)
	for _, m := range regexp.MustCompile(`name="([a-z_]+)" size="6" inputmode="decimal" value="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		edit.Set(m[1], m[2])
	}
	edit.Set("max_ncpus_pct", "120")
	v.wants(200, "Use at most this % of the CPUs: want a number from 0 to 100")(v.do("POST", "preferences", edit))
	edit.Set("max_ncpus_pct", "50")
	edit.Set("run_on_batteries", "on")
	v.wants(200, "Preferences saved", `value="50"`)(v.do("POST", "preferences", edit))
	u = w.userByEmail("eve@example.org")
	for _, want := range []string{"<max_ncpus_pct>50", "<run_on_batteries>1", "<run_if_user_active>0", "<vm_max_used_pct>33", "<venue name=\"home\">\n<max_ncpus_pct>1</max_ncpus_pct>\n</venue>"} {
		if !strings.Contains(u.GlobalPrefs, want) {
			t.Errorf("%s is not in %s", want, u.GlobalPrefs)
		}
	}
	if strings.Contains(u.GlobalPrefs, "<mod_time>1<") {
		t.Error("the preferences look no newer than before")
	}

	// Another site's page cannot act for a visitor.
	v.wants(403, "from another site, so nothing was changed")(v.do("POST", "settings", url.Values{"what": {"password"}}, "Sec-Fetch-Site", "cross-site"))

	// A new password ends other visits.
	other := newVisitor(t, base)
	other.wants(200, "Eve &amp; co")(other.do("POST", "login", url.Values{"email": {"eve@example.org"}, "password": {"long enough"}}))
	v.wants(200, "The password is wrong")(v.do("POST", "settings", url.Values{"what": {"password"}, "old": {"wrong"}, "password": {"another one"}}))
	if _, page := v.do("POST", "settings", url.Values{"what": {"password"}, "old": {"long enough"}, "password": {"short"}}); strings.Contains(page, "Password changed") {
		t.Error("a refused password is said to be changed")
	}
	v.wants(200, "Password changed")(v.do("POST", "settings", url.Values{"what": {"password"}, "old": {"long enough"}, "password": {"another one"}}))
	other.wants(200, "Forgot your password?")(other.do("GET", "account", nil))
	other.wants(422, "e-mail address or password is wrong")(other.do("POST", "login", url.Values{"email": {"eve@example.org"}, "password": {"long enough"}}))
	other.wants(422, "The e-mail address or password is wrong")(other.do("POST", "login", url.Values{"email": {"nobody@example.org"}, "password": {"long enough"}}))

	// A forgotten password: the link is sent by mail and works once.
	other.wants(200, "we have sent it an e-mail")(other.do("POST", "forgot", url.Values{"email": {"nobody@example.org"}}))
	other.wants(200, "we have sent it an e-mail")(other.do("POST", "forgot", url.Values{"email": {"eve@example.org"}}))
	link := w.mailedLink(base + "reset?token=")
	other.wants(200, "New password")(other.do("GET", link, nil))
	token, _ := url.Parse(link)
	set := url.Values{"token": {token.Query().Get("token")}, "password": {"third time"}}
	other.wants(200, "Eve &amp; co")(other.do("POST", "reset", set))
	other.wants(403, "was already used")(other.do("POST", "reset", set))
	set.Set("token", strings.Replace(set.Get("token"), "1.", "2.", 1))
	other.wants(403, "was already used")(other.do("POST", "reset", set))
	v.wants(200, "Forgot your password?")(v.do("GET", "account", nil))
	other.do("POST", "logout", nil)
	other.wants(200, "Forgot your password?")(other.do("GET", "account", nil))
}

func (w *world) userByEmail(email string) store.User {
	w.t.Helper()
	return storetest.Get(w.t, w.p.Store, (*store.View).UserByEmail, email)
}

// mailedLink waits for a link with this beginning in the folder of mails, since these are sent
// concurrently with the answer.
func (w *world) mailedLink(begin string) (link string) {
	w.t.Helper()
	testwait.Until(w.t, "a mail with a link "+begin, func() bool {
		paths, err := filepath.Glob(filepath.Join(w.dir, "mail", "*.eml"))
		w.must(err)
		for _, path := range paths {
			b, err := os.ReadFile(path)
			w.must(err)
			text := strings.ReplaceAll(strings.ReplaceAll(string(b), "=\r\n", ""), "=3D", "=")
			if i := strings.Index(text, begin); i >= 0 {
				link = strings.Fields(text[i:])[0]
			}
		}
		return link != ""
	})
	return link
}

// Guesses of a password cost the project little and the owner nothing but a wait: the
// key works all the time.
func TestGuessesByTheThousand(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	key, err := operate.AddUser(t.Context(), w.p, "ada@example.org", "", "secret7", w.now())
	w.must(err)
	lookup := func(password string) error {
		_, body := w.get("lookup_account.php?email_addr=ada@example.org&passwd_hash=" + protocol.PasswordHash(password, "ada@example.org"))
		_, err := protocol.ParseAccountReply([]byte(body))
		return err
	}
	w.must(lookup("secret7"))
	wrong, refused := 0, 0
	for i := range 1000 {
		var e *protocol.AccountError
		if err := lookup(fmt.Sprint("guess ", i)); !errors.As(err, &e) {
			t.Fatalf("guess %d: %v", i, err)
		}
		switch e.Num {
		case protocol.ErrNumBadPassword:
			wrong++
		case protocol.ErrNumProjectDown:
			refused++
		}
	}
	if wrong < 10 || wrong > 20 || wrong+refused != 1000 { // ten at once, and one a minute
		t.Errorf("%d were checked, %d refused", wrong, refused)
	}
	if err := lookup("secret7"); err == nil || !strings.Contains(err.Error(), "too many wrong passwords") {
		t.Errorf("got %v", err)
	}
	w.must(lookup(string(key)))
}
