package server_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/starling-grid/starling/internal/testwait"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server"
	"github.com/starling-grid/starling/server/blob"
	"github.com/starling-grid/starling/server/operate"
	"github.com/starling-grid/starling/server/project"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/workgen"
)

// A besieged world is a project that Serve runs on loopback, under attack over real connections.
type besieged struct {
	*world
	addr string // HOST:PORT
	base string // the project's URL
	log  *lockedBuffer
}

// besiege serves a new project with an application. Settings are as for newWorld.
func besiege(t *testing.T, settings ...string) *besieged {
	t.Helper()
	l := listen(t)
	b := &besieged{addr: l.Addr().String(), log: new(lockedBuffer)}
	b.base = "http://" + b.addr + "/demo/"
	b.world = newWorld(t, append([]string{`master_url = "` + master + `"`, `master_url = "` + b.base + `"`}, settings...)...)
	b.setUp()
	p, err := project.Open(t.Context(), b.dir, slog.New(slog.NewTextHandler(b.log, nil)))
	b.must(err)
	stop := served(t, server.New(p, server.Part{Roles: []string{"web", "scheduler", "upload"}}), l)
	t.Cleanup(func() {
		stop()
		_ = p.Close()
	})
	return b
}

// post sends a body to a part of the project and returns the answer.
func (b *besieged) post(part string, body io.Reader, header ...string) (int, string) {
	b.t.Helper()
	code, text, err := b.try(http.MethodPost, part, body, header...)
	b.must(err)
	return code, text
}

// try sends a request and returns the outcome. It is safe for concurrent use.
func (b *besieged) try(method, part string, body io.Reader, header ...string) (int, string, error) {
	req, err := http.NewRequestWithContext(b.t.Context(), method, b.base+part, body)
	if err != nil {
		return 0, "", err
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return 0, "", err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	return res.StatusCode, string(text), err
}

// request returns the request of an account's host that asks for work.
func request(key protocol.Authenticator, name string, change ...func(r *protocol.SchedulerRequest)) []byte {
	r := &protocol.SchedulerRequest{
		Authenticator: key, Client: protocol.Version{Major: 8, Minor: 0, Release: 2}, CPUReqSeconds: 1000,
		Platform: "x86_64-pc-linux-gnu", Host: protocol.HostInfo{
			DomainName: name, HostCPID: name, NCPUs: 1, Fpops: 1e9, MemBytes: 8e9, DiskTotal: 1e12, DiskFree: 1e12,
		},
	}
	for _, c := range change {
		c(r)
	}
	return r.Encode()
}

// A lockedBuffer takes a log while it is read.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// No number of unsuitable hosts ends work that waits for suitable ones.
func TestUnsuitableHostsEndNoWork(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		settings []string
		platform string // of the application's second version, the newest
		host     func(r *protocol.SchedulerRequest)
	}{
		{"too little memory", nil, "", func(r *protocol.SchedulerRequest) { r.Host.MemBytes = 1e6 }},
		{"too little disk", nil, "", func(r *protocol.SchedulerRequest) { r.Host.DiskFree = 1 }},
		{"another platform, though the limit is set", []string{"max_infeasible = 0", "max_infeasible = 5"}, "", func(r *protocol.SchedulerRequest) { r.Platform = "other" }},
		{"no version that this client runs, though the limit is set", []string{"max_infeasible = 0", "max_infeasible = 5"}, "other", func(r *protocol.SchedulerRequest) { r.Platform = "other" }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := besiege(t, tt.settings...)
			if tt.platform != "" {
				b.must(operate.AddVersion(t.Context(), b.p, operate.NewVersion{
					App: "upper", Platform: tt.platform, Number: "2.00", Main: b.file("upper", "#!/bin/sh\n"), MinCore: "99.0",
				}, b.now()))
			}
			for i := range 3 {
				b.create(workgen.Params{Name: fmt.Sprint("wu", i), RscDiskBound: 1e8}, "text")
			}
			var key protocol.Authenticator
			for i := range 130 {
				if i%10 == 0 { // a new host is compared with all others of its account
					key = b.user(fmt.Sprintf("mallory%d@example.org", i))
				}
				if _, reply := b.post("cgi", bytes.NewReader(request(key, fmt.Sprint("host", i), tt.host))); strings.Contains(reply, "<result>") {
					t.Fatalf("host %d got work: %s", i, reply)
				}
			}
			b.step()
			if st := b.status(); st.Results.ByServerState["unsent"] != 3 || st.Workunits.Unfinished != 3 {
				t.Errorf("got %+v, %+v", st.Results, st.Workunits)
			}
			_, reply := b.post("cgi", bytes.NewReader(request(b.user("ada@example.org"), "box")))
			if !strings.Contains(reply, "<result>") {
				t.Errorf("a suitable host gets %s", reply)
			}
		})
	}
}

// A host may describe itself with any text. Neither the database nor the log nor the answer keeps
// more of it than the width of BOINC's columns, and none of it has an effect on a terminal.
func TestTextsOfHostsAreCut(t *testing.T) {
	t.Parallel()
	b := besiege(t)
	long := strings.Repeat("\x1b[31m\u202eä\xff<b>", 600_000) // 8 MB
	b.create(workgen.Params{Name: "wu"}, "text")
	key := b.user("mallory@example.org")
	for _, field := range []string{
		"domain_name", "ip_addr", "host_cpid", "p_vendor", "p_model", "p_features", "os_name", "os_version", "product_name",
	} {
		req := string(request(key, field))
		tag := "<" + field + ">"
		if i := strings.Index(req, tag); i >= 0 {
			req = req[:i+len(tag)] + long[:7<<20] + req[i+len(tag):]
		} else {
			req = strings.Replace(req, "<host_info>", "<host_info>"+tag+long[:7<<20]+"</"+field+">", 1)
		}
		code, reply := b.post("cgi", strings.NewReader(req))
		if code != http.StatusOK || len(reply) > 64<<10 {
			t.Errorf("%s: HTTP %d, a reply of %d bytes", field, code, len(reply))
		}
	}
	body := "<platform_name>" + long[:7<<20] + "</platform_name>"
	_, reply := b.post("cgi", strings.NewReader(strings.Replace(string(request(key, "x")), "<platform_name>x86_64-pc-linux-gnu</platform_name>", body, 1)))
	if len(reply) > 64<<10 || strings.Contains(reply, "\x1b") {
		t.Errorf("a platform of 7 MB comes back in %d bytes", len(reply))
	}
	b.must(b.p.Store.View(t.Context(), func(tx *store.View) error {
		u, err := tx.UserByEmail("mallory@example.org")
		b.must(err)
		hosts, err := tx.HostsOfUser(u.ID, 100)
		if len(hosts) < 5 {
			t.Errorf("%d hosts", len(hosts))
		}
		for _, h := range hosts {
			for _, s := range []string{h.DomainName, h.LastIPAddr, h.HostCPID, h.Vendor, h.Model, h.OSName, h.OSVersion} {
				if len(s) > 254 || !utf8.ValidString(s) || strings.ContainsAny(s, "\x1b\u202e") {
					t.Errorf("host %d: %d bytes, %.40q", h.ID, len(s), s)
				}
			}
		}
		return err
	}))
	if log := b.log.String(); len(log) > 64<<10 || strings.Contains(log, "\x1b") {
		t.Errorf("a log of %d bytes", len(log))
	}
}

// Many large requests at a time take little memory, and ordinary hosts are served
// meanwhile.
func TestLargeRequestsTakeLittleMemory(t *testing.T) {
	b := besiege(t)
	key := b.user("mallory@example.org")
	huge := bytes.Replace(request(key, "big"), []byte("<domain_name>"), []byte("<domain_name>"+strings.Repeat("x", 8<<20-4096)), 1)
	many := bytes.Replace(request(key, "many"), []byte("</scheduler_request>"), []byte(strings.Repeat("<result><file_info/></result>", 8<<20/29-200)+"</scheduler_request>"), 1)
	for name, body := range map[string][]byte{"one text": huge, "many elements": many} {
		runtime.GC()
		var before, now runtime.MemStats
		runtime.ReadMemStats(&before)
		var wg sync.WaitGroup
		var served, busy atomic.Int64
		for range 30 {
			wg.Go(func() {
				code, _, err := b.try(http.MethodPost, "cgi", bytes.NewReader(body))
				switch {
				case err == nil && code == http.StatusOK:
					served.Add(1)
				case err != nil || code == http.StatusServiceUnavailable: // put off
					busy.Add(1)
				default:
					t.Errorf("HTTP %d", code)
				}
			})
		}
		done := make(chan struct{})
		go func() { wg.Wait(); close(done) }()
		peak := uint64(0)
		for open := true; open; {
			if code, _ := b.post("cgi", bytes.NewReader(request(b.user(fmt.Sprintf("u%d@example.org", time.Now().UnixNano())), "box"))); code != http.StatusOK {
				t.Errorf("an ordinary host gets HTTP %d", code)
			}
			runtime.ReadMemStats(&now)
			peak = max(peak, now.HeapAlloc-min(before.HeapAlloc, now.HeapAlloc))
			select {
			case <-done:
				open = false
			case <-time.After(20 * time.Millisecond): // or it would use a whole processor
			}
		}
		t.Logf("%s: %d served, %d put off, peak %d MB", name, served.Load(), busy.Load(), peak>>20)
		if served.Load() == 0 || peak > 200<<20 {
			t.Errorf("%s: %d served, peak %d MB", name, served.Load(), peak>>20)
		}
	}
}

// Idle connections are closed, whatever part of the server they use and whether they send or read.
// Others are served meanwhile.
func TestSlowClientsAreSentAway(t *testing.T) {
	server.SetWindow(t, time.Second)
	b := besiege(t)
	var conns []net.Conn
	for i := range 90 {
		part := []string{"POST /demo/cgi", "POST /demo/file_upload_handler", "POST /demo/login", "POST /demo/nowhere", "GET /demo/", "POST /demo/status"}[i%6]
		c, err := net.Dial("tcp", b.addr) //nolint:noctx // on loopback
		b.must(err)
		defer c.Close()
		_, err = fmt.Fprintf(c, "%s HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 1000\r\n\r\nx", part)
		b.must(err)
		conns = append(conns, c)
	}
	if code, _ := b.post("cgi", bytes.NewReader(request(b.user("ada@example.org"), "box"))); code != http.StatusOK {
		t.Errorf("an ordinary host gets HTTP %d", code)
	}
	for _, c := range conns {
		b.must(c.SetReadDeadline(time.Now().Add(testwait.Patience)))
		if _, err := io.Copy(io.Discard, c); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatal("a connection is open on which nothing moves")
		}
	}
}

// An address that holds its connections open without a word gets so many and no more.
func TestSilentConnectionsHaveAnEnd(t *testing.T) {
	t.Parallel()
	b := besiege(t, "max_connections_per_address = 250", "max_connections_per_address = 3")
	var all []net.Conn
	for range 6 {
		c, err := net.Dial("tcp", b.addr) //nolint:noctx // on loopback
		b.must(err)
		defer c.Close()
		all = append(all, c)
	}
	for i, c := range all {
		if open := answers(c); open != (i < 3) {
			t.Errorf("connection %d of 6: open: %v", i+1, open)
		}
	}
}

// answers reports whether a server answers a request on a connection, which it may have closed.
func answers(c net.Conn) bool {
	_ = c.SetDeadline(time.Now().Add(testwait.Patience))
	_, _ = io.WriteString(c, "GET / HTTP/1.1\r\nHost: example.org\r\n\r\n")
	_, err := c.Read(make([]byte, 1))
	return err == nil
}

// The limit applies to all addresses of a server, the operator's and the redirecting one included: their
// connections take the same descriptors.
func TestSilentConnectionsHaveAnEndEverywhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "max_connections_per_address = 250", "max_connections_per_address = 3")
	s := server.New(w.p, server.Part{Roles: []string{"web"}})
	all := []net.Listener{listen(t), listen(t), listen(t)}
	s.Admin, s.Redirect = all[1], all[2]
	defer served(t, s, all[0])()
	for i, l := range all {
		for range 3 {
			c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", l.Addr().String())
			w.must(err)
			defer c.Close()
		}
		c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", l.Addr().String())
		w.must(err)
		defer c.Close()
		if answers(c) {
			t.Errorf("listener %d: the fourth connection is open", i)
		}
	}
}

// proxied is a server that trusts the headers of a proxy on loopback.
func proxied(t *testing.T, settings ...string) *besieged {
	t.Helper()
	return besiege(t, append(settings, "trusted_proxies = []", `trusted_proxies = ["127.0.0.1"]`)...)
}

// Strangers who guess passwords do not lock the owner of an account out.
func TestGuessesDoNotLockTheOwnerOut(t *testing.T) {
	t.Parallel()
	b := proxied(t)
	_, err := operate.AddUser(t.Context(), b.p, "ada@example.org", "", "secret7", b.now())
	b.must(err)
	lookup := func(password, from string) string {
		_, body, err := b.try(http.MethodGet, "lookup_account.php?email_addr=ada@example.org&passwd_hash="+
			protocol.PasswordHash(password, "ada@example.org"), nil, "X-Forwarded-For", from)
		b.must(err)
		return body
	}
	for i := range 40 {
		lookup("guess", fmt.Sprint("192.0.2.", i%2))
	}
	if got := lookup("secret7", "192.0.2.1"); !strings.Contains(got, "too many wrong passwords") {
		t.Errorf("the stranger goes on to guess: %s", got)
	}
	if got := lookup("secret7", "198.51.100.7"); !strings.Contains(got, "<authenticator>") {
		t.Errorf("the owner gets %s", got)
	}
}

// Accounts and computers cannot be made without limit, and using another address does not help.
func TestAccountsAndHostsHaveAnEnd(t *testing.T) {
	t.Parallel()
	b := besiege(t, "max_accounts_per_address_day = 50", "max_accounts_per_address_day = 3",
		"max_hosts_per_user_day = 500", "max_hosts_per_user_day = 4")
	made, refused := 0, ""
	for i := range 6 {
		email := fmt.Sprintf("u%d@example.org", i)
		_, body, err := b.try(http.MethodGet, fmt.Sprintf("create_account.php?email_addr=%s&user_name=u&passwd_hash=%032x", email, i), nil,
			"X-Forwarded-For", fmt.Sprint("192.0.2.", i))
		b.must(err)
		if strings.Contains(body, "<authenticator>") {
			made++
		} else {
			refused = body
		}
	}
	if made != 3 || !strings.Contains(refused, "too many accounts were created from your address: try again in") {
		t.Errorf("%d accounts, then %s", made, refused)
	}
	key := b.user("mallory@example.org")
	for i := range 6 {
		_, reply := b.post("cgi", bytes.NewReader(request(key, fmt.Sprint("host", i))))
		if got, want := strings.Contains(reply, "<hostid>"), i < 4; got != want {
			t.Errorf("host %d: %s", i, reply)
		}
		if i >= 4 && (!strings.Contains(reply, "has added 4 computers within a day") || strings.Contains(reply, "<request_delay>0")) {
			t.Errorf("host %d: %s", i, reply)
		}
	}
	if st := b.status(); st.Hosts != 4 {
		t.Errorf("%d hosts", st.Hosts)
	}
}

// A cookie is invalid after the log-out, and an old key gives no access to work.
func TestWhatIsEndedStaysEnded(t *testing.T) {
	t.Parallel()
	b := besiege(t)
	v := newVisitor(t, b.base)
	v.wants(200, "eve@example.org")(v.do("POST", "signup", url.Values{"email": {"eve@example.org"}, "password": {"long enough"}}))
	base, err := url.Parse(b.base)
	b.must(err)
	thief := newVisitor(t, b.base)
	thief.c.Jar.SetCookies(base, v.c.Jar.Cookies(base))
	thief.wants(200, "eve@example.org")(thief.do("GET", "account", nil))

	old := b.userByEmail("eve@example.org").Authenticator
	v.wants(200, "The password is wrong")(v.do("POST", "settings", url.Values{"what": {"key"}, "old": {"wrong"}}))
	v.wants(200, "account key was replaced")(v.do("POST", "settings", url.Values{"what": {"key"}, "old": {"long enough"}}))
	renewed := b.userByEmail("eve@example.org").Authenticator
	if _, reply := b.post("cgi", bytes.NewReader(request(old, "box"))); !strings.Contains(reply, "Invalid or missing account key") {
		t.Errorf("the old key: %s", reply)
	}
	if _, reply := b.post("cgi", bytes.NewReader(request(renewed, "box"))); renewed == old || !strings.Contains(reply, "<hostid>") {
		t.Errorf("the new key: %s", reply)
	}
	last, err := operate.RenewKey(t.Context(), b.p, "Eve@example.org")
	b.must(err)
	if got := b.userByEmail("eve@example.org").Authenticator; got != last || got == renewed {
		t.Errorf("renew-key gave %q, the account has %q", last, got)
	}

	v.do("POST", "logout", nil)
	thief.wants(200, "Log in", "Forgot your password?")(thief.do("GET", "account", nil))
}

// Every answer has headers with the uses that browsers must refuse.
func TestEveryAnswerHasItsHeaders(t *testing.T) {
	t.Parallel()
	b := besiege(t)
	name, err := operate.StageFile(t.Context(), b.p, b.file("page.html", "<script>"), "page.html")
	b.must(err)
	for _, x := range []struct {
		method, page string
		code         int
	}{
		{"GET", "", 200},
		{"GET", "status", 200},
		{"GET", "login", 200},
		{"GET", "get_project_config.php", 200},
		{"GET", "nowhere", 404},
		{"PUT", "cgi", 405},
		{"POST", "cgi", 200},
		{"POST", "file_upload_handler", 200},
		{"GET", "metrics", 404},
		{"GET", "download/" + path.Dir(blob.Path(name)) + "/" + name, 200},
		{"GET", "download/0/x", 404},
	} {
		req, err := http.NewRequestWithContext(t.Context(), x.method, b.base+x.page, nil)
		b.must(err)
		res, err := http.DefaultClient.Do(req)
		b.must(err)
		_ = res.Body.Close()
		if res.StatusCode != x.code {
			t.Errorf("%s %s: HTTP %d, want %d", x.method, x.page, res.StatusCode, x.code)
		}
		for head, want := range map[string]string{
			"X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin", "Content-Security-Policy": "default-src 'none'",
		} {
			if got := res.Header.Get(head); !strings.HasPrefix(got, want) {
				t.Errorf("%s %s: %s is %q", x.method, x.page, head, got)
			}
		}
	}
}

// Metrics are for the operator only, at a separate address.
func TestMetricsAreNotPublic(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "trusted_proxies = []", `trusted_proxies = ["127.0.0.1"]`, `metrics_token = ""`, `metrics_token = "0123456789abcdef"`)
	admin := listen(t)
	s := server.New(w.p, server.Part{Roles: []string{"transitioner"}}) // which has metrics, too
	s.Admin = admin
	defer served(t, s, nil)()
	for _, tt := range []struct {
		name, page string
		header     []string
		want       int
	}{
		{"here", "metrics", nil, 200},
		{"a stranger", "metrics", []string{"X-Forwarded-For", "192.0.2.1"}, 403},
		{"a stranger who says more", "metrics", []string{"X-Forwarded-For", "127.0.0.1, 192.0.2.1"}, 403},
		{"a wrong token", "metrics", []string{"X-Forwarded-For", "192.0.2.1", "Authorization", "Bearer x"}, 403},
		{"the token", "metrics", []string{"X-Forwarded-For", "192.0.2.1", "Authorization", "Bearer 0123456789abcdef"}, 200},
		{"health", "healthz", nil, 200},
		{"readiness", "readyz", nil, 200},
		{"profiles", "debug/pprof/", nil, 200},
		{"profiles for a stranger", "debug/pprof/", []string{"X-Forwarded-For", "192.0.2.1"}, 403},
		{"the project", "demo/", nil, 404},
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+admin.Addr().String()+"/"+tt.page, nil)
		w.must(err)
		if len(tt.header) > 0 {
			for i := 0; i < len(tt.header); i += 2 {
				req.Header.Set(tt.header[i], tt.header[i+1])
			}
		}
		res, err := http.DefaultClient.Do(req)
		w.must(err)
		_ = res.Body.Close()
		if res.StatusCode != tt.want {
			t.Errorf("%s: HTTP %d, want %d", tt.name, res.StatusCode, tt.want)
		}
	}
	ready := func(what string, want int) {
		t.Helper()
		res, err := http.Get("http://" + admin.Addr().String() + "/readyz") //nolint:noctx // on loopback
		w.must(err)
		_ = res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("%s: HTTP %d, want %d", what, res.StatusCode, want)
		}
	}
	upload := filepath.Join(w.dir, "upload")
	w.must(os.Rename(upload, upload+".away"))
	ready("without upload/", 503)
	w.must(os.Rename(upload+".away", upload))
	ready("with it", 200)
	w.must(w.p.Store.Close())
	ready("without a database", 503)
}

// Clients are sent to mirrors first, and to the project at last.
func TestMirrors(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "download_urls = []", `download_urls = ["https://a.example/x/", "https://b.example/"]`)
	w.setUp()
	w.create(workgen.Params{Name: "wu"}, "hello")
	for _, f := range (&client{w: w, key: w.user("a@example.org"), name: "a"}).fetch().Files {
		if f.UploadURLs != nil {
			continue
		}
		at := blob.Path(f.Name)
		if want := []string{"https://a.example/x/" + at, "https://b.example/" + at, master + "download/" + at}; !slices.Equal(f.DownloadURLs, want) {
			t.Errorf("%s is at %v, want %v", f.Name, f.DownloadURLs, want)
		}
	}
}

// Pages do not reveal who has an account.
func TestPagesTellNobodyWhoHasAnAccount(t *testing.T) {
	t.Parallel()
	b := besiege(t)
	_, err := operate.AddUser(t.Context(), b.p, "ada@example.org", "", "secret7", b.now())
	b.must(err)
	for _, page := range []string{"login", "forgot"} {
		answers := make(map[string]int)
		for _, email := range []string{"ada@example.org", "bob@example.org"} {
			v := newVisitor(t, b.base)
			code, text := v.do("POST", page, url.Values{"email": {email}, "password": {"wrong one"}})
			answers[fmt.Sprint(code, strings.ReplaceAll(text, email, "EMAIL"))]++
		}
		if len(answers) != 1 {
			t.Errorf("%s: %v", page, answers)
		}
	}
}
