package guirpc_test

import (
	"bufio"
	"context"
	"crypto/md5"
	"encoding/hex"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/agent/control/guirpc"
	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/agent/view"
	"github.com/starling-grid/starling/prefs"
)

// An agent shows nothing and does nothing. Calls that need more panic.
type agent struct{ guirpc.Agent }

func (agent) Tools(context.Context) (view.Tools, error) {
	return view.Tools{Platforms: []string{"x86_64-pc-linux-gnu"}, Prefs: prefs.Merge(), Now: time.Now()}, nil
}

func (agent) Log(context.Context, int) (control.Log, error) {
	return control.Log{Messages: []control.Message{{Seqno: 7, Time: time.Now(), Level: "INFO", Text: "a <b> ]]> c"}}}, nil
}

func (agent) SteerProject(context.Context, string, control.ProjectAction) error {
	return settings.ErrNotAttached
}

func serve(t *testing.T, password string) string {
	t.Helper()
	return serveAgent(t, agent{}, password)
}

func serveAgent(t testing.TB, a guirpc.Agent, password string) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	s := &guirpc.Server{Agent: a, Log: slog.New(slog.DiscardHandler), Password: password}
	go func() { done <- s.Serve(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return l.Addr().String()
}

// A peer is a tool's connection.
type peer struct {
	t testing.TB
	net.Conn
	r *bufio.Reader
}

func dial(t testing.TB, addr string) *peer {
	t.Helper()
	c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return &peer{t, c, bufio.NewReader(c)}
}

// ask sends a whole message and returns the reply, "" if the connection closed.
func (p *peer) ask(message string) string {
	p.t.Helper()
	if _, err := p.Write([]byte(message + "\x03")); err != nil {
		return ""
	}
	s, err := p.r.ReadString(3)
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(s, "\x03")
}

func (p *peer) call(inner string) string {
	p.t.Helper()
	return p.ask("<boinc_gui_rpc_request>\n" + inner + "\n</boinc_gui_rpc_request>\n")
}

func reply(inner string) string {
	return "<boinc_gui_rpc_reply>\n" + inner + "\n</boinc_gui_rpc_reply>\n"
}

func (p *peer) logIn(password string) string {
	p.t.Helper()
	_, rest, _ := strings.Cut(p.call("<auth1/>"), "<nonce>")
	nonce, _, _ := strings.Cut(rest, "</nonce>")
	sum := md5.Sum([]byte(nonce + password))
	return p.call("<auth2>\n<nonce_hash>" + hex.EncodeToString(sum[:]) + "</nonce_hash>\n</auth2>")
}

// What BOINC's client was recorded to answer to odd requests.
func TestOddRequests(t *testing.T) {
	p := dial(t, serve(t, ""))
	for _, tt := range []struct{ message, want string }{
		{"<boinc_gui_rpc_request>\n<no_such_rpc/>\n</boinc_gui_rpc_request>\n", reply("<error>unrecognized op: no_such_rpc/</error>")},
		{"<get_state/>", reply("<error>missing request</error>")},
		{"", reply("<error>missing request</error>")},
		{"<boinc_gui_rpc_request>", reply("<error>missing request</error>")},
		{"<boinc_gui_rpc_request>\n<set_run_mode>\n</set_run_mode>\n</boinc_gui_rpc_request>\n", reply("<error>Missing mode</error>")},
		{"<boinc_gui_rpc_request>\n<project_update>\n<project_url>http://x.example/</project_url>\n</project_update>\n</boinc_gui_rpc_request>\n", reply("<error>No such project</error>")},
	} {
		if got := p.ask(tt.message); got != tt.want {
			t.Errorf("to %q: got %q, want %q", tt.message, got, tt.want)
		}
	}
	for _, before := range []string{"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", "x"} {
		if got := dial(t, serve(t, "")).ask(before + "<boinc_gui_rpc_request>\n<get_cc_status/>\n</boinc_gui_rpc_request>\n"); got != "" {
			t.Errorf("after %q: %q, want no answer", before, got)
		}
	}
	if got := p.call("<get_messages>\n<seqno>0</seqno>\n</get_messages>"); !strings.Contains(got, "<body>\n<![CDATA[\na <b> ]] > c\n]]>\n</body>") {
		t.Errorf("messages: %s", got)
	}
}

func TestPassword(t *testing.T) {
	addr := serve(t, "secret")
	if got := dial(t, addr).logIn("secret"); got != reply("<authorized/>") {
		t.Errorf("right password: %q", got)
	}
	p := dial(t, addr)
	if got := p.logIn("guess"); got != reply("<unauthorized/>") {
		t.Errorf("wrong password: %q", got)
	}
	if got := p.call("<get_state/>"); got != "" {
		t.Errorf("after a wrong password: %q", got)
	}
	p = dial(t, addr)
	if got := p.call("<get_cc_status/>"); !strings.Contains(got, "<cc_status>") {
		t.Errorf("what needs no password: %q", got)
	}
	for range 2 {
		if got := p.call("<quit/>"); got != reply("<unauthorized/>") {
			t.Errorf("what needs one: %q", got)
		}
	}
	if got := p.call("<get_cc_status/>"); got != "" {
		t.Errorf("after two refusals: %q", got)
	}
	p = dial(t, addr)
	p.call("<auth1/>")
	if got := p.call("<auth2>\n<nonce_hash></nonce_hash>\n</auth2>"); got != reply("<unauthorized/>") {
		t.Errorf("an empty hash: %q", got)
	}
}

// A peer that sends without end is cut off, and others are served all the while.
func TestHostilePeers(t *testing.T) {
	addr := serve(t, "")
	slow := dial(t, addr)
	if _, err := slow.Write([]byte("<boinc_gui")); err != nil {
		t.Fatal(err)
	}
	flood := dial(t, addr)
	for range 200 {
		if _, err := flood.Write([]byte(strings.Repeat("x", 4096))); err != nil {
			break
		}
	}
	if _, err := flood.r.ReadByte(); err == nil {
		t.Error("a request without end was answered")
	}
	if got := dial(t, addr).call("<exchange_versions/>"); !strings.Contains(got, "<major>") {
		t.Errorf("another peer: %q", got)
	}
}
