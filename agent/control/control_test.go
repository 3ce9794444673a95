package control_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/agent/statetest"
	"github.com/starling-grid/starling/decide"
	"github.com/starling-grid/starling/internal/sysfault"
	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/prefs"
	"github.com/starling-grid/starling/protocol"
)

// An agent answers with the given values.
type agent struct {
	control.Agent
	status  control.Status
	err     error
	steered []string
	reloads int
}

func (a *agent) note(what ...any) error {
	a.steered = append(a.steered, fmt.Sprint(what...))
	return a.err
}

func (a *agent) Status(context.Context) (control.Status, error) { return a.status, a.err }

func (a *agent) Reload(context.Context) error {
	a.reloads++
	return a.err
}

func (a *agent) Decision(context.Context) (decide.Record, error) {
	return decide.Record{Snapshot: decide.Snapshot{CPUs: 3}}, a.err
}

func (a *agent) Prefs(context.Context) (prefs.Effective, error) { return prefs.Merge(), a.err }

func (a *agent) SteerProject(_ context.Context, masterURL string, what control.ProjectAction) error {
	return a.note(masterURL, " ", what)
}

func (a *agent) SteerTask(_ context.Context, project, name string, what control.TaskAction) error {
	return a.note(project, " ", name, " ", what)
}

func (a *agent) SetMode(_ context.Context, what control.Activity, kind prefs.ModeKind, d time.Duration) error {
	return a.note(what == control.Network, " ", kind, " ", d)
}

func (a *agent) Log(_ context.Context, after int) (control.Log, error) {
	return control.Log{Messages: []control.Message{{Seqno: after + 1, Level: "INFO", Project: "p", Text: "<t>"}}}, a.err
}

func (a *agent) History(_ context.Context, q control.HistoryQuery) (control.History, error) {
	return control.History{Tasks: []control.HistoryTask{{Name: q.Task, Project: q.Project, Finished: q.Since, Elapsed: float64(q.Limit)}}, Next: q.Before}, a.err
}

func (a *agent) Timeline(_ context.Context, q control.HistoryQuery) (control.Timeline, error) {
	return control.Timeline{Spans: []control.Span{{State: "off", Start: q.Since}}, Next: q.Before}, a.err
}

func (a *agent) Notices(_ context.Context, masterURL string) ([]control.Notice, error) {
	return []control.Notice{{Seqno: 7, Project: masterURL, Kind: control.News, Title: "<t>"}}, a.err
}

func (a *agent) Check(context.Context) error { return a.err }

func (a *agent) PrefsFile(context.Context) (string, error) { return "max_cpus = 1\n", a.err }

func (a *agent) SetPrefsFile(_ context.Context, text string) error {
	return a.note("prefs " + text)
}

func (a *agent) SetPref(_ context.Context, name string, value *float64) error {
	if value == nil {
		return a.note("unset " + name)
	}
	return a.note("set ", name, " ", *value)
}

func (a *agent) SetShare(_ context.Context, masterURL string, share float64) error {
	return a.note("share ", masterURL, " ", share)
}

func (a *agent) Attach(_ context.Context, masterURL string, key protocol.Authenticator) error {
	return a.note("attach " + masterURL + " " + string(key))
}

func (a *agent) Detach(_ context.Context, masterURL string) error {
	return a.note("detach " + masterURL)
}

// dataDir makes a folder whose path is short enough for a socket.
func dataDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "starling") //nolint:usetesting // t.TempDir's path may be too long
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func serve(t *testing.T, dir string, a control.Agent) (stop context.CancelFunc) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	if err := control.Serve(ctx, dir, "", a, control.Local{}, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	return cancel
}

func TestClientAndServer(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	a := &agent{status: control.Status{
		Running: true, Version: "1", PID: 7, Since: now, DataDir: "/d", CPUs: 4,
		Projects: []control.Project{{
			MasterURL: "http://p.example/", Name: "P", UserName: "Ann", HostID: 3, Share: 100, UserCredit: 1.5, HostCredit: 0.5,
			Tasks: 1, LastContact: now, NextContact: now, Trouble: "t", Failures: 2, Work: "w", WorkCode: "ask", Notices: []string{"n"}, Initialized: true,
		}},
		Tasks:      []control.Task{{Name: "r_0", Project: "http://p.example/", App: "a", State: "s", Running: true, Slot: 1, Fraction: 0.5, Deadline: now, Why: "because"}},
		Transfers:  []control.Xfer{{Name: "f", Upload: true, Bytes: 5, Size: 10, NextTry: now, Trouble: "slow"}},
		Complaints: []string{"prefs.toml:1: x: unknown key"},
	}}
	dir := dataDir(t)
	serve(t, dir, a)
	c := control.NewClient(dir)
	got, err := c.Status(t.Context())
	if err != nil || !reflect.DeepEqual(got, a.status) {
		t.Errorf("got %+v, %v; want %+v", got, err, a.status)
	}
	if err := c.Reload(t.Context()); err != nil || a.reloads != 1 {
		t.Errorf("reload: %v, %d", err, a.reloads)
	}
	half := 0.5
	const odd = "http://p.example/a&b=c%20+é/"
	if err := errors.Join(
		c.SteerProject(t.Context(), odd, control.UpdateProject),
		c.SteerTask(t.Context(), odd, "r&0", control.AbortTask),
		c.SetMode(t.Context(), control.Network, prefs.Never, 90*time.Minute),
		c.Attach(t.Context(), odd, "k&y"),
		c.Detach(t.Context(), odd),
		c.SetPrefsFile(t.Context(), "# ä&=\n"),
		c.SetPref(t.Context(), "max_cpus", &half),
		c.SetPref(t.Context(), "max_cpus", nil),
		c.SetShare(t.Context(), odd, 250),
		c.Check(t.Context()),
		c.Reach(t.Context()),
	); err != nil {
		t.Error(err)
	}
	if want := []string{
		odd + " update", odd + " r&0 abort", "true 2 1h30m0s", "attach " + odd + " k&y", "detach " + odd,
		"prefs # ä&=\n", "set max_cpus 0.5", "unset max_cpus", "share " + odd + " 250",
	}; !slices.Equal(a.steered, want) {
		t.Errorf("got %q, want %q", a.steered, want)
	}
	if d, err := c.Decision(t.Context()); err != nil || d.Snapshot.CPUs != 3 {
		t.Errorf("decision: %+v, %v", d, err)
	}
	if l, err := c.Log(t.Context(), 7); err != nil || len(l.Messages) != 1 || l.Messages[0] != (control.Message{Seqno: 8, Level: "INFO", Project: "p", Text: "<t>"}) {
		t.Errorf("log: %+v, %v", l, err)
	}
	q := control.HistoryQuery{Project: odd, Task: "r&0", Since: now, Before: 1 << 60, Limit: 9}
	if h, err := c.History(t.Context(), q); err != nil || h.Next != q.Before || h.Tasks[0].Project != odd || h.Tasks[0].Name != q.Task || !h.Tasks[0].Finished.Equal(now) || h.Tasks[0].Elapsed != 9 {
		t.Errorf("history: %+v, %v", h, err)
	}
	if x, err := c.Timeline(t.Context(), q); err != nil || x.Next != q.Before || !x.Spans[0].Start.Equal(now) {
		t.Errorf("timeline: %+v, %v", x, err)
	}
	if text, err := c.PrefsFile(t.Context()); err != nil || text != "max_cpus = 1\n" {
		t.Errorf("prefs.toml: %q, %v", text, err)
	}
	if u, err := c.Dashboard(t.Context()); err == nil || !strings.Contains(err.Error(), "no dashboard") {
		t.Errorf("dashboard: %q, %v", u, err)
	}
	if p, err := c.Prefs(t.Context()); err != nil || p.Prefs != prefs.Default() {
		t.Errorf("preferences: %+v, %v", p, err)
	}
	a.err = errors.New("prefs.toml:1: x: unknown key\nprefs.toml:2: <y> & \"z\"")
	for name, err := range map[string]error{"reload": c.Reload(t.Context()), "update": c.SteerProject(t.Context(), "u", control.UpdateProject)} {
		if err == nil || err.Error() != a.err.Error() {
			t.Errorf("%s: got %v, want the agent's own words", name, err)
		}
	}
	if _, err := c.Status(t.Context()); err == nil || errors.Is(err, control.ErrNotRunning) {
		t.Errorf("status: got %v", err)
	}
}

// A refusal is in the language that the caller asks for, and English for a caller without one.
func TestLanguageOfRefusals(t *testing.T) {
	dir := dataDir(t)
	serve(t, dir, &agent{err: words.Refuse(words.T("the agent is stopping"))})
	client := control.NewClient(dir)
	for language, want := range map[words.Language]string{"de": "Der Agent wird gerade beendet", "en": "the agent is stopping"} {
		if err := client.Detach(words.With(t.Context(), language), "http://p.example/"); err == nil || err.Error() != want {
			t.Errorf("in %s: got %v, want %s", language, err, want)
		}
	}
	rec := httptest.NewRecorder()
	control.Handler(&agent{err: errors.New("x")}).ServeHTTP(rec, httptest.NewRequest(http.MethodPost, "/v1/mode", strings.NewReader("")))
	if want := `{"error":"unknown mode \"\"; use always, auto or never\ntime: invalid duration \"\""}`; strings.TrimSpace(rec.Body.String()) != want {
		t.Errorf("without a language: got %s, want %s", rec.Body, want)
	}
}

// The client's own errors can be translated, and are of their kinds.
func TestLanguageOfErrors(t *testing.T) {
	dir := dataDir(t)
	err := control.NewClient(dir).Reload(t.Context())
	if got, want := sysfault.Text(err).In("de"), "In "+dir+" läuft kein Agent"; !errors.Is(err, control.ErrNotRunning) || got != want {
		t.Errorf("got %v, in German %q, want %q", err, got, want)
	}
	err = control.Unresponsive("/d")
	if want := "an agent is running but does not respond in /d; see its log"; !errors.Is(err, control.ErrUnresponsive) || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	err = control.Forbidden(words.Plain("no"))
	if got := sysfault.Text(err).In("de"); !errors.Is(err, control.ErrForbidden) || err.Error() != "permission denied: no" || got != "Keine Berechtigung: no" {
		t.Errorf("got %v, in German %q", err, got)
	}
}

func TestNoAgent(t *testing.T) {
	for _, dir := range []string{dataDir(t), filepath.Join(dataDir(t), "gone")} {
		c := control.NewClient(dir)
		_, err := c.Status(t.Context())
		for _, err := range []error{err, c.Reload(t.Context()), c.SteerProject(t.Context(), "u", control.UpdateProject)} {
			if !errors.Is(err, control.ErrNotRunning) || err.Error() != "no agent is running in "+dir {
				t.Errorf("got %v, want ErrNotRunning", err)
			}
		}
	}
}

// An agent of another version, one that is killed while it answers, and one that hangs: for each there is a
// sentence, and never an error of the decoder alone.
func TestAnAgentThatDoesNotAnswerAsExpected(t *testing.T) {
	cut := func(begin string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			c, _, err := http.NewResponseController(w).Hijack()
			if err == nil {
				_, _ = io.WriteString(c, begin)
				_ = c.Close()
			}
		}
	}
	text := func(s string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, s) }
	}
	for _, tt := range []struct {
		name   string
		answer http.HandlerFunc
		want   error
	}{
		{"a request that it does not have", http.NotFound, control.ErrVersion},
		{"another method", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusMethodNotAllowed) }, control.ErrVersion},
		{"a value of another kind", text(`{"pid": "seven"}`), control.ErrVersion},
		{"no JSON", text("<html>"), control.ErrVersion},
		{"nothing", text(""), control.ErrEnded},
		{"half of it", text(`{"pid": 7, "projects": [{`), control.ErrEnded},
		{"the end before the answer", cut(""), control.ErrEnded},
		{"the end within the answer", cut("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"pid\": 7"), control.ErrEnded},
	} {
		t.Run(tt.name, func(t *testing.T) {
			server := httptest.NewServer(tt.answer)
			defer server.Close()
			c := control.NewClientOver(&http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				return new(net.Dialer).DialContext(ctx, "tcp", server.Listener.Addr().String())
			}})
			if _, err := c.Status(t.Context()); !errors.Is(err, tt.want) {
				t.Errorf("got %v", err)
			}
		})
	}
	hangs := hanging{}
	synctest.Test(t, func(t *testing.T) {
		if _, err := control.NewClientOver(hangs).Status(t.Context()); !errors.Is(err, control.ErrUnresponsive) {
			t.Errorf("a hanging agent: %v", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := control.NewClientOver(hangs).Status(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("interrupted: %v", err)
		}
	})
}

// hanging does not answer.
type hanging struct{}

func (hanging) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

func TestServerIsGoneWhenItsContextEnds(t *testing.T) {
	dir := dataDir(t)
	hold := make(chan struct{})
	a := &holding{arrived: make(chan struct{}), hold: hold}
	stop := serve(t, dir, a)
	answer := make(chan error, 1)
	go func() { answer <- control.NewClient(dir).Reload(t.Context()) }()
	<-a.arrived
	stop()
	if err := <-answer; err == nil {
		t.Error("a call under way was answered after the end")
	}
	close(hold)
}

// holding keeps callers waiting.
type holding struct {
	agent
	arrived chan struct{}
	hold    chan struct{}
}

func (h *holding) Reload(context.Context) error {
	close(h.arrived)
	<-h.hold
	return nil
}

func TestPathTooLongForASocket(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the name of a pipe is as long for any path")
	}
	dir := filepath.Join(dataDir(t), strings.Repeat("d", 100))
	err := control.Serve(t.Context(), dir, "", &agent{}, control.Local{}, slog.New(slog.DiscardHandler))
	if err == nil || !strings.Contains(err.Error(), "choose a shorter --data") {
		t.Errorf("got %v, want advice", err)
	}
	if _, err := control.NewClient(dir).Status(t.Context()); !errors.Is(err, control.ErrNotRunning) {
		t.Errorf("got %v, want ErrNotRunning", err)
	}
}

// An agent that has its state, but no socket yet, is just starting: it is waited for.
func TestStartingAgent(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("with Wine, a client that comes in the instant in which the pipe is made waits in vain, see useUp; waiting for an agent is NOT tested")
	}
	t.Parallel()
	dir := t.TempDir()
	statetest.Open(t, dir)
	asked := make(chan error)
	go func() { asked <- control.NewClient(dir).Reach(t.Context()) }()
	select {
	case err := <-asked:
		t.Fatalf("it was not waited for: %v", err)
	case <-time.After(200 * time.Millisecond):
	}
	if err := control.Serve(t.Context(), dir, "", new(agent), control.Local{}, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	if err := <-asked; err != nil {
		t.Error(err)
	}
}
