package e2e_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/internal/testhost"
)

// withTerms starts a project's server with terms of use, in front of one without them.
func withTerms(t *testing.T, p *testhost.Project, terms string) string {
	t.Helper()
	u, err := url.Parse(p.URL)
	must(t, err)
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(&url.URL{Scheme: u.Scheme, Host: u.Host})
			r.Out.Header.Del("Accept-Encoding")
		},
		ModifyResponse: func(r *http.Response) error {
			if !strings.HasSuffix(r.Request.URL.Path, "get_project_config.php") {
				return nil
			}
			b, err := io.ReadAll(r.Body)
			b = bytes.Replace(b, []byte("</project_config>"), []byte("<terms_of_use>"+terms+"</terms_of_use></project_config>"), 1)
			r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(b)), int64(len(b))
			r.Header.Set("Content-Length", strconv.Itoa(len(b)))
			return err
		},
	}
	srv := httptest.NewServer(proxy)
	t.Cleanup(srv.Close)
	return srv.URL + u.Path
}

// TestNewcomer is a newcomer's first minute: from "starling attach" without arguments to a new
// account, and on another computer by logging in to it.
func TestNewcomer(t *testing.T) {
	t.Parallel()
	ctx := patience(t)
	p := newProject(t, ctx)
	serve(t, ctx, p)
	data := filepath.Join(t.TempDir(), "d")
	s := openScreen(t, ctx, 100, 60, bin.Path(testhost.Starling), "--data", data, "attach")
	s.until("Einstein@Home", "pulsars")
	last := ""
	for line := range strings.Lines(s.text()) {
		if n, what, ok := strings.Cut(strings.TrimSpace(line), "  "); ok && strings.HasPrefix(what, "another") {
			last = n
		}
	}
	s.typed("Which one?", last)
	s.typed("URL of the project's web site", withTerms(t, p, "Be kind.\x1b[31m"))
	s.typed("Which?", "3")
	s.typed("E-mail address", "Eve@example.org")
	s.until("Be kind.")
	s.typed("accept them?", "yes")
	s.typed("Public name", "Evelyn")
	s.typed("New password", "short")
	s.until("This one has only 5.")
	s.typed("New password", "long enough")
	s.typed("Repeat the password", "other enough")
	s.until("The passwords differ")
	s.typed("New password", "long enough")
	s.typed("Repeat the password", "long enough")
	shown := s.until("Attached to "+p.URL, "No agent is running")
	if strings.Contains(shown, "enough") || strings.Contains(s.colours(), "\x1b[31m") {
		t.Errorf("what must not be shown is:\n%s", shown)
	}
	accounts, _, err := settings.LoadAccounts(data)
	if err != nil || len(accounts) != 1 || accounts[0].MasterURL != p.URL {
		t.Fatalf("accounts %+v, %v", accounts, err)
	}

	// Another computer, with the account that exists now.
	s = openScreen(t, ctx, 100, 60, bin.Path(testhost.Starling), "--data", data+"2", "attach", p.URL)
	s.typed("Which?", "1")
	s.typed("E-mail address", "eve@example.org")
	s.typed("Password of eve@example.org", "long enough")
	s.until("Attached to " + p.URL)
	same, _, err := settings.LoadAccounts(data + "2")
	if err != nil || len(same) != 1 || same[0].Authenticator != accounts[0].Authenticator {
		t.Errorf("logged in to %+v, %v; want the account that was made", same, err)
	}

	// If the person interrupts the command, it leaves nothing behind, and the terminal echoes
	// again.
	s = openScreen(t, ctx, 100, 60, "/bin/sh", "-c", `trap : INT; "$0" "$@"; stty -a`,
		bin.Path(testhost.Starling), "--data", data+"3", "attach", p.URL, "--email", "eve@example.org")
	s.until("Password of eve@example.org")
	s.tmux("send-keys", "C-c")
	if text := s.until("interrupted; nothing was changed", " echoe "); strings.Contains(text, "-echo ") {
		t.Errorf("the terminal was left without an echo:\n%s", text)
	}
	if _, err := os.Stat(data + "3"); err == nil {
		t.Error("an interrupted attach left a data directory")
	}
}

// TestNewcomerWithoutTerminal makes an account from a script.
func TestNewcomerWithoutTerminal(t *testing.T) {
	t.Parallel()
	ctx := patience(t)
	p := newProject(t, ctx)
	serve(t, ctx, p)
	attach := func(url, stdin string, args ...string) (string, string) {
		t.Helper()
		data := filepath.Join(t.TempDir(), "d")
		cmd := exec.CommandContext(ctx, bin.Path(testhost.Starling), append([]string{"--data", data, "attach", url}, args...)...)
		cmd.Stdin = strings.NewReader(stdin)
		out, err := cmd.CombinedOutput()
		accounts, _, _ := settings.LoadAccounts(data)
		if (err == nil) != (len(accounts) == 1) {
			t.Errorf("attach %v: %v, with accounts %v", args, err, accounts)
		}
		if err != nil {
			return string(out), ""
		}
		return string(out), string(accounts[0].Authenticator)
	}
	_, key := attach(p.URL, "", "--email", "bob@example.org", "--password", "secret9", "--create")
	if key == "" {
		t.Error("no account was made")
	}
	if _, again := attach(p.URL, "secret9\n", "--email", "bob@example.org", "--password-stdin"); again != key {
		t.Errorf("logged in to %q, want %q", again, key)
	}
	terms := withTerms(t, p, "Be kind.")
	for _, c := range []struct {
		url  string
		args []string
		want string
	}{
		{p.URL, []string{"--email", "bob@example.org", "--password", "another9", "--create"}, "already an account"},
		{p.URL, []string{"--email", "cy@example.org", "--password", "short", "--create"}, "the password is too short: e2e requires at least 6 characters"},
		{p.URL, []string{"--email", "cy@example.org", "--create"}, "--create needs --password or --password-stdin"},
		{p.URL, []string{"--password", "secret9", "--create"}, "an account is required: give --key, or --email"},
		{p.URL, []string{"--email", "cy@example.org", "--password-stdin"}, "--password-stdin: the first line is empty"},
		{terms, []string{"--email", "cy@example.org", "--password", "secret9", "--create"}, "you must accept the terms of use"},
	} {
		out, key := attach(c.url, "", c.args...)
		if key != "" || !strings.Contains(out, c.want) {
			t.Errorf("attach %v: %q, want %q", c.args, out, c.want)
		}
	}
	if _, key := attach(terms, "", "--email", "cy@example.org", "--password", "secret9", "--create", "--accept-terms"); key == "" {
		t.Error("no account was made with the terms accepted")
	}
}
