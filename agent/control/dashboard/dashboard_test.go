package dashboard

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/agent/view"
	"github.com/starling-grid/starling/internal/testerr"
	"github.com/starling-grid/starling/prefs"
	"github.com/starling-grid/starling/protocol"
)

// agent remembers the requests it got.
type agent struct {
	Agent
	own   prefs.Layer
	asked []string
}

func (a *agent) Dashboard(context.Context) (view.Page, error) {
	return view.Page{Status: control.Status{Version: "9"}, AllCPUs: 4}, nil
}

func (a *agent) Log(_ context.Context, after int) (control.Log, error) {
	if after > 0 {
		return control.Log{}, nil
	}
	return control.Log{Messages: []control.Message{{Seqno: 1, Text: "<hello>", Level: "INFO"}}}, nil
}

func (a *agent) Prefs(context.Context) (prefs.Effective, error) { return prefs.Merge(a.own), nil }

func (a *agent) PrefsOverride(context.Context) (prefs.Layer, error) { return a.own, nil }

func (a *agent) SetPrefsOverride(_ context.Context, l prefs.Layer) error {
	a.own = l
	return nil
}

func (a *agent) SteerProject(_ context.Context, u string, what control.ProjectAction) error {
	a.asked = append(a.asked, u+" "+string(what))
	return nil
}

func (a *agent) LookupAccount(_ context.Context, u, email, hash string) (protocol.Authenticator, error) {
	a.asked = append(a.asked, "look up "+email+" "+hash)
	return "key", nil
}

func (a *agent) Attach(_ context.Context, u string, key protocol.Authenticator) error {
	a.asked = append(a.asked, "attach "+u+" "+string(key))
	return nil
}

// site serves a dashboard and returns its port and the address with the token.
func site(t *testing.T, a *agent) (port string, login *url.URL) {
	t.Helper()
	s, login := serve(t, a)
	return s.Port, login
}

func serve(t *testing.T, a Agent) (s *Server, login *url.URL) {
	t.Helper()
	return serveUntil(t, t.Context(), a)
}

// serveUntil serves a dashboard until ctx ends.
func serveUntil(t *testing.T, ctx context.Context, a Agent) (s *Server, login *url.URL) {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	must(t, err)
	_, port, _ := net.SplitHostPort(l.Addr().String())
	d := t.TempDir()
	token, err := Announce(d, port)
	must(t, err)
	if login, err = Address(d); err != nil {
		t.Fatal(err)
	}
	s = &Server{Agent: a, Log: slog.New(slog.DiscardHandler), Token: token, Port: port}
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, l) }()
	t.Cleanup(func() {
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return s, login
}

// A reply is the answer without its body.
type reply struct {
	Status     string
	StatusCode int
	Header     http.Header
	Cookies    []*http.Cookie
}

// ask sends a request, with headers as pairs of name and value, and returns the answer.
func ask(t *testing.T, method, u, body string, headers ...string) (reply, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, u, strings.NewReader(body))
	must(t, err)
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			req.Host = headers[i+1]
		}
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	must(t, err)
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	must(t, err)
	return reply{resp.Status, resp.StatusCode, resp.Header, resp.Cookies()}, string(b)
}

// enter logs in and returns the cookie.
func enter(t *testing.T, login *url.URL) string {
	t.Helper()
	resp, _ := ask(t, http.MethodGet, login.String(), "")
	if len(resp.Cookies) != 1 {
		t.Fatalf("%s: %v", resp.Status, resp.Cookies)
	}
	c := resp.Cookies[0]
	if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode {
		t.Errorf("the cookie is open to scripts or other sites: %v", c)
	}
	return c.Name + "=" + c.Value
}

func TestToken(t *testing.T) {
	a := new(agent)
	port, login := site(t, a)
	base := "http://127.0.0.1:" + port
	post := `{"project":"http://p.example/","action":"suspend"}`
	for _, tt := range []struct {
		name, method, path, body, cookie string
	}{
		{"page", http.MethodGet, "/", "", ""},
		{"script", http.MethodGet, "/app.js", "", ""},
		{"events", http.MethodGet, "/api/events", "", ""},
		{"what a task writes", http.MethodGet, "/api/task?project=p&task=t", "", ""},
		{"tab", http.MethodGet, "/tasks", "", ""},
		{"action", http.MethodPost, "/api/project", post, ""},
		{"action with a wrong cookie", http.MethodPost, "/api/project", post, "starling_" + port + "=" + strings.Repeat("0", 32)},
		{"action with an empty cookie", http.MethodPost, "/api/project", post, "starling_" + port + "="},
		{"wrong token", http.MethodGet, "/login?token=" + strings.Repeat("0", 32), "", ""},
		{"no token", http.MethodGet, "/login?token=", "", ""},
	} {
		resp, body := ask(t, tt.method, base+tt.path, tt.body, "Cookie", tt.cookie)
		if resp.StatusCode != http.StatusUnauthorized || len(resp.Cookies) > 0 || !strings.Contains(body, "starling dashboard") {
			t.Errorf("%s: %s %v: %s", tt.name, resp.Status, resp.Cookies, body)
		}
	}
	cookie := enter(t, login)
	for _, host := range []string{"127.0.0.1:" + port, "localhost:" + port, "[::1]:" + port, "LocalHost:" + port} {
		resp, body := ask(t, http.MethodGet, base+"/", "", "Cookie", cookie, "Host", host)
		if csp := resp.Header.Get("Content-Security-Policy"); resp.StatusCode != http.StatusOK || !strings.Contains(body, "/app.js") || strings.Contains(csp, "unsafe") || !strings.Contains(csp, "default-src 'none'") {
			t.Errorf("%s: %s, policy %q", host, resp.Status, csp)
		}
	}
	if resp, body := ask(t, http.MethodPost, base+"/api/project", post, "Cookie", cookie, "Origin", base, "Sec-Fetch-Site", "same-origin"); resp.StatusCode != http.StatusOK {
		t.Errorf("%s: %s", resp.Status, body)
	}
	if strings.Join(a.asked, "|") != "http://p.example/ suspend" {
		t.Errorf("the agent was asked for %q", a.asked)
	}
	// The form takes the whole address as well.
	form := url.Values{"token": {login.String()}}.Encode()
	if resp, _ := ask(t, http.MethodPost, base+"/login", form, "Content-Type", "application/x-www-form-urlencoded"); resp.StatusCode != http.StatusOK || len(resp.Cookies) != 1 {
		t.Errorf("form: %s", resp.Status)
	}
}

// TestOtherSites makes a browser that is logged in visit malicious pages.
func TestOtherSites(t *testing.T) {
	a := new(agent)
	port, login := site(t, a)
	base := "http://127.0.0.1:" + port
	cookie := enter(t, login)
	post := `{"project":"http://p.example/","action":"reset"}`
	for _, tt := range []struct {
		name, method, path string
		headers            []string
	}{
		{"foreign origin", http.MethodPost, "/api/project", []string{"Origin", "https://evil.example"}},
		{"foreign site", http.MethodPost, "/api/project", []string{"Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site"}},
		{"null origin", http.MethodPost, "/api/project", []string{"Origin", "null"}},
		{"another port's page", http.MethodPost, "/api/project", []string{"Origin", "http://127.0.0.1:1", "Sec-Fetch-Site", "same-site"}},
		{"another port's page reads", http.MethodGet, "/api/prefs", []string{"Sec-Fetch-Site", "same-site"}},
		{"foreign site reads", http.MethodGet, "/api/prefs", []string{"Sec-Fetch-Site", "cross-site"}},
		{"rebound name", http.MethodPost, "/api/project", []string{"Host", "evil.example:" + port, "Origin", "http://evil.example:" + port, "Sec-Fetch-Site", "same-origin"}},
		{"rebound name reads", http.MethodGet, "/api/prefs", []string{"Host", "evil.example:" + port}},
		{"rebound name's page", http.MethodGet, "/", []string{"Host", "evil.example:" + port}},
		{"rebound name logs in", http.MethodGet, "/login?" + login.RawQuery, []string{"Host", "127.0.0.1.evil.example:" + port}},
		{"another port", http.MethodGet, "/api/prefs", []string{"Host", "127.0.0.1:1"}},
		{"no port", http.MethodGet, "/api/prefs", []string{"Host", "localhost"}},
	} {
		resp, body := ask(t, tt.method, base+tt.path, post, append(tt.headers, "Cookie", cookie)...)
		if resp.StatusCode != http.StatusForbidden && resp.StatusCode != http.StatusMisdirectedRequest || len(resp.Cookies) > 0 {
			t.Errorf("%s: %s: %s", tt.name, resp.Status, body)
		}
		if resp.Header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s may be read", tt.name)
		}
	}
	if len(a.asked) > 0 {
		t.Errorf("the agent was asked for %q", a.asked)
	}
}

// A ticket opens the dashboard once, and in time.
func TestTicket(t *testing.T) {
	s, login := serve(t, new(agent))
	base := "http://127.0.0.1:" + login.Port()
	address := s.Ticket()
	for _, tt := range []struct {
		name, address string
		status        int
	}{
		{"another ticket", base + "/login?ticket=ABCDEFGHIJKLMNOPQRSTUVWXYZ", http.StatusUnauthorized},
		{"no ticket", base + "/login?ticket=", http.StatusUnauthorized},
		{"the ticket", address, http.StatusOK},
		{"the ticket again", address, http.StatusUnauthorized},
	} {
		resp, _ := ask(t, http.MethodGet, tt.address, "")
		if resp.StatusCode != tt.status || (len(resp.Cookies) == 1) != (tt.status == http.StatusOK) {
			t.Errorf("%s: %s %v", tt.name, resp.Status, resp.Cookies)
		}
		for _, c := range resp.Cookies {
			if c.Value != s.Token {
				t.Errorf("%s: the browser is not known later: %v", tt.name, c)
			}
		}
	}
	form := url.Values{"token": {s.Ticket()}}.Encode() // pasted
	if resp, _ := ask(t, http.MethodPost, base+"/login", form, "Content-Type", "application/x-www-form-urlencoded"); resp.StatusCode != http.StatusOK {
		t.Errorf("form: %s", resp.Status)
	}
	var k tickets
	now := time.Now()
	late, kept := k.issue(now), k.issue(now.Add(time.Minute))
	if end := now.Add(ticketLasts); k.take(late, end) || !k.take(kept, end) {
		t.Error("a ticket does not end in time")
	}
}

func TestAnnounce(t *testing.T) {
	d := t.TempDir()
	one, err := Announce(d, "1000")
	if err != nil || len(one) != 32 {
		t.Fatal(one, err)
	}
	if info, err := os.Stat(filepath.Join(d, URLFile)); err != nil || info.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/' {
		t.Errorf("others can read the token: %v, %v", info, err)
	}
	if again, err := Announce(d, "1000"); err != nil || again != one {
		t.Errorf("a restart made another token: %v", err)
	}
	if other, err := Announce(d, "1001"); err != nil || other == one {
		t.Errorf("the token of one port is shown to another: %v", err)
	}
	for range 2 {
		if err := Retract(d); err != nil {
			t.Error(err)
		}
	}
	if again, err := Announce(d, "1000"); err != nil || again == one {
		t.Errorf("a token that may be known lives on: %v", err)
	}
}

func TestEvents(t *testing.T) {
	port, login := site(t, new(agent))
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1:"+port+"/api/events", nil)
	must(t, err)
	req.Header.Set("Cookie", enter(t, login))
	resp, err := http.DefaultTransport.RoundTrip(req)
	must(t, err)
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	var got []string
	for len(got) < 5 && lines.Scan() {
		got = append(got, lines.Text())
	}
	var v struct {
		Page view.Page `json:"page"`
	}
	if err := json.Unmarshal([]byte(strings.TrimPrefix(got[1], "data: ")), &v); err != nil || got[0] != "event: view" || v.Page.AllCPUs != 4 {
		t.Errorf("%q: %v", got, err)
	}
	if got[3] != "event: messages" || !strings.Contains(got[4], "hello") {
		t.Errorf("got %q", got)
	}
}

func TestPreferences(t *testing.T) {
	a := &agent{own: prefs.Layer{Values: map[string]float64{"max_cpus": 3}}}
	port, login := site(t, a)
	base, cookie := "http://127.0.0.1:"+port, enter(t, login)
	for _, tt := range []struct{ values, want string }{
		{`{"max_ncpus_pct":50,"run_on_batteries":1}`, `{"toml":"run_on_batteries = true\nmax_ncpus_pct = 50\n"}`},
		{`{"max_ncpus_pct":500}`, "prefs_override.toml:1: max_ncpus_pct: 500 is not between 0 and 100"},
		{`{"max_ncpu_pct":5}`, "max_ncpu_pct: unknown key"},
		{`{"max_ncpus_pct":"5"}`, "invalid request"},
		{`{}`, `{"toml":""}`},
	} {
		if _, got := ask(t, http.MethodPost, base+"/api/prefs/preview", `{"values":`+tt.values+`}`, "Cookie", cookie); !strings.Contains(got, tt.want) {
			t.Errorf("%s: %s, want %s", tt.values, got, tt.want)
		}
	}
	if a.own.Values["max_cpus"] != 3 {
		t.Errorf("a look changed the preferences: %v", a.own)
	}
	if resp, got := ask(t, http.MethodPost, base+"/api/prefs", `{"values":{"max_ncpus_pct":50}}`, "Cookie", cookie); resp.StatusCode != http.StatusOK {
		t.Error(got)
	}
	if len(a.own.Values) != 1 || a.own.Values["max_ncpus_pct"] != 50 {
		t.Errorf("saved: %v", a.own.Values)
	}
	if _, got := ask(t, http.MethodGet, base+"/api/prefs", "", "Cookie", cookie); !strings.Contains(got, `"own":50`) {
		t.Error(got)
	}
	for _, tt := range []struct{ days, want string }{
		{`{"monday":{"start_hour":22,"end_hour":6}}`, `[day.monday]\nstart_hour = 22\nend_hour = 6\n`},
		{`{"monday":{"start_hour":22,"end_hour":25}}`, "day.monday.end_hour: 25 is not between 0 and 24"},
		{`{"someday":{}}`, "someday: not a day of the week"},
	} {
		if _, got := ask(t, http.MethodPost, base+"/api/prefs/preview", `{"days":`+tt.days+`}`, "Cookie", cookie); !strings.Contains(got, tt.want) {
			t.Errorf("%s: %s, want %s", tt.days, got, tt.want)
		}
	}
	save := func(body string) string {
		_, _ = ask(t, http.MethodPost, base+"/api/prefs", body, "Cookie", cookie)
		_, got := ask(t, http.MethodGet, base+"/api/prefs", "", "Cookie", cookie)
		return got
	}
	const monday = `"days":{"monday":{"start_hour":22,"end_hour":6,"net_start_hour":0,"net_end_hour":0}}`
	if got := save(`{"days":{"monday":{"start_hour":22,"end_hour":6}}}`); !strings.Contains(got, monday) {
		t.Errorf("set: %s", got)
	}
	if got := save(`{"values":{}}`); !strings.Contains(got, monday) {
		t.Errorf("not spoken of: %s", got)
	}
	if got := save(`{"days":{}}`); !strings.Contains(got, `"days":{}`) {
		t.Errorf("taken back: %s", got)
	}
}

func TestAttach(t *testing.T) {
	a := new(agent)
	port, login := site(t, a)
	base, cookie := "http://127.0.0.1:"+port, enter(t, login)
	for _, tt := range []struct {
		body   string
		status int
	}{
		{`{"url":"p.example","email":"a@b.example","password":"secret7"}`, http.StatusOK},
		{`{"url":"http://q.example/","key":"abc"}`, http.StatusOK},
		{`{"url":"http://q.example/","email":"a@b.example"}`, http.StatusUnprocessableEntity},
		{`{"url":"ftp://q.example/","key":"abc"}`, http.StatusUnprocessableEntity},
		{`{"url":"http://q.example/","kee":"abc"}`, http.StatusBadRequest},
		{strings.Repeat(" ", maxBody) + `{}`, http.StatusBadRequest},
	} {
		if resp, got := ask(t, http.MethodPost, base+"/api/attach", tt.body, "Cookie", cookie); resp.StatusCode != tt.status {
			t.Errorf("%.60s: %s: %s", tt.body, resp.Status, got)
		}
	}
	want := "look up a@b.example " + protocol.PasswordHash("secret7", "a@b.example") + "|attach http://p.example/ key|attach http://q.example/ abc"
	if got := strings.Join(a.asked, "|"); got != want {
		t.Errorf("asked for\n%s, want\n%s", got, want)
	}
}

var must = testerr.Must
