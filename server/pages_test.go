package server_test

import (
	"errors"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/operate"
)

func TestAccountCalls(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	key, err := operate.AddUser(t.Context(), w.p, "Ada@example.org", "", "secret7", w.now())
	w.must(err)
	hash := protocol.PasswordHash("secret7", "ada@example.org")
	q := url.QueryEscape
	for _, tt := range []struct {
		name, call string
		key        protocol.Authenticator // "": some key
		num        int
	}{
		{"right password", "lookup_account.php?email_addr=" + q("Ada@Example.org") + "&passwd_hash=" + hash, key, 0},
		{"wrong password", "lookup_account.php?email_addr=ada@example.org&passwd_hash=" + protocol.PasswordHash("x", "ada@example.org"), "", -206},
		{"the key in place of the password", "lookup_account.php?email_addr=ada@example.org&passwd_hash=" + protocol.PasswordHash(string(key), "ada@example.org"), key, 0},
		{"nobody", "lookup_account.php?email_addr=nobody@example.org&passwd_hash=" + hash, "", -136},
		{"made again with the same password", "create_account.php?email_addr=ada@example.org&user_name=Ada&passwd_hash=" + hash, key, 0},
		{"taken", "create_account.php?email_addr=ada@example.org&user_name=Ada&passwd_hash=" + strings.Repeat("0", 32), "", -137},
		{"new", "create_account.php?email_addr=b@example.org&user_name=B&passwd_hash=" + hash, "", 0},
		{"no e-mail address", "create_account.php?email_addr=b&user_name=B&passwd_hash=" + hash, "", -205},
		{"no name", "create_account.php?email_addr=c@example.org&passwd_hash=" + hash, "", -188},
		{"a hash that is none", "create_account.php?email_addr=c@example.org&user_name=C&passwd_hash=xyz", "", -206},
	} {
		t.Run(tt.name, func(t *testing.T) {
			code, body := w.get(tt.call)
			got, err := protocol.ParseAccountReply([]byte(body))
			num := 0
			if e := (*protocol.AccountError)(nil); errors.As(err, &e) {
				num = e.Num
			} else if err != nil {
				t.Fatal(err)
			}
			if code != 200 || num != tt.num || tt.key != "" && got != tt.key || num == 0 && len(got) != 32 {
				t.Errorf("HTTP %d, key %q, error %d; want %d", code, string(got), num, tt.num)
			}
		})
	}
	if code, body := w.get("lookup_account.php?email_addr=ada@example.org"); code != 200 || !strings.Contains(body, "<success/>") {
		t.Errorf("HTTP %d, %s", code, body)
	}
}

// Each front end that takes requests is on the page that clients read.
func TestSeveralSchedulers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `scheduler_urls = []`, `scheduler_urls = ["https://a.example/cgi", "http://b.example:8080/demo/cgi"]`)
	w.setUp()
	_, home := w.get("")
	urls, err := protocol.SchedulerURLs([]byte(home))
	if want := []string{"https://a.example/cgi", "http://b.example:8080/demo/cgi"}; err != nil || !slices.Equal(urls, want) {
		t.Errorf("got %v, %v; want %v", urls, err, want)
	}
	if n := strings.Count(home, `rel="boinc_scheduler"`); n != 2 {
		t.Errorf("%d links, want 2", n)
	}
}

func TestPages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.setUp()
	_, home := w.get("")
	if urls, err := protocol.SchedulerURLs([]byte(home)); err != nil || len(urls) != 1 || urls[0] != master+"cgi" {
		t.Errorf("got %v, %v", urls, err)
	}
	for line := range strings.SplitSeq(home, "\n") {
		if strings.Contains(line, "scheduler") && len(line) > 200 {
			t.Errorf("clients read 255 bytes of the line %q", line)
		}
	}
	_, config := w.get("get_project_config.php")
	if c, err := protocol.ParseProjectConfig([]byte(config)); err != nil || c.Name != "Demo" || c.MasterURL != master || !strings.Contains(config, "x86_64-pc-linux-gnu") {
		t.Errorf("got %s, %v", config, err)
	}
	for _, page := range []string{"status", "status?xml=1", "status?json=1"} {
		if code, body := w.get(page); code != 200 || !strings.Contains(strings.ToLower(body), "results") {
			t.Errorf("%s: HTTP %d, %s", page, code, body)
		}
	}
	if page := w.metrics(); !strings.Contains(page, "starling_results") {
		t.Errorf("metrics: %s", page)
	}
	for _, sheet := range []string{"base.css", "style.css"} {
		res := w.do("GET", master+sheet, nil)
		w.must(res.Body.Close())
		if got := res.Header.Get("Content-Type"); res.StatusCode != 200 || !strings.HasPrefix(got, "text/css") || !strings.Contains(home, `href="/demo/`+sheet) {
			t.Errorf("%s: HTTP %d, %s", sheet, res.StatusCode, got)
		}
	}
	for _, page := range []string{"nothing", "metrics", "healthz", "debug/pprof/", "download/1/x", "download/1/..%2f..%2fserver.toml", "keys/upload_private"} {
		if code, _ := w.get(page); code != 404 {
			t.Errorf("%s: HTTP %d, want 404", page, code)
		}
	}
}

func TestDownloadsResume(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.setUp()
	name := "upper_1.00_x86_64-pc-linux-gnu"
	path := "download/" + protocol.DirHash(name, 1024) + "/" + name
	code, body := w.get(path, "Range", "bytes=2-", "Accept-Encoding", "gzip")
	if code != 206 || body != "/bin/sh\n" {
		t.Errorf("HTTP %d, %q", code, body)
	}
}
