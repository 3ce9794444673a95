package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/starling-grid/starling/internal/testpg"
	"github.com/starling-grid/starling/server/operate"
	"github.com/starling-grid/starling/server/project"
)

// lines passes on the log, a line at a time.
type lines chan string

func (l lines) Write(b []byte) (int, error) {
	select {
	case l <- string(bytes.TrimSpace(b)):
	default: // no reader waits for more
	}
	return len(b), nil
}

// A server that starts before its database waits for it, and logs that.
func TestServeWaitsForTheDatabase(t *testing.T) {
	pg := testpg.Start(t)
	dir := filepath.Join(t.TempDir(), "p")
	err := operate.Init(t.Context(), dir, operate.NewProject{Name: "Demo", MasterURL: "http://127.0.0.1:8080/demo/", Database: pg.Database(t)})
	must(t, err)
	pg.Do(t, "-m fast stop")
	logged := make(lines, 1)
	log := slog.New(slog.NewTextHandler(logged, nil))
	var p *project.Project
	var wg sync.WaitGroup
	wg.Go(func() { p, err = awaited(t.Context(), dir, log) })
	if line := <-logged; !strings.Contains(line, "does not answer") {
		t.Errorf("logged %q", line)
	}
	pg.Do(t, "start")
	wg.Wait()
	must(t, err)
	must(t, p.Close())

	pg.Do(t, "-m fast stop")
	ctx, cancel := context.WithCancel(t.Context())
	logged = make(lines, 1)
	log = slog.New(slog.NewTextHandler(logged, nil))
	wg.Go(func() { p, err = awaited(ctx, dir, log) })
	<-logged
	cancel()
	wg.Wait()
	if err == nil || p != nil {
		t.Errorf("stopped while it waited, and it serves")
	}
	pg.Do(t, "start")
}

// A signal stops a server without an error at any moment of its start.
func TestServeStopsWhileItStarts(t *testing.T) {
	for name, database := range map[string]string{"SQLite": "", "PostgreSQL": testpg.Start(t).Database(t)} {
		dir := filepath.Join(t.TempDir(), "p")
		must(t, operate.Init(t.Context(), dir, operate.NewProject{Name: "Demo", MasterURL: "http://127.0.0.1:8080/demo/", Database: database}))
		for wait := time.Duration(0); wait < 60*time.Millisecond; wait += 3 * time.Millisecond {
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(wait, func() { cancel(errors.New("terminated signal received")) })
			cmd := root()
			cmd.SetArgs([]string{"serve", dir, "--listen", "127.0.0.1:0"})
			cmd.SetErr(io.Discard)
			if err := cmd.ExecuteContext(ctx); err != nil {
				t.Errorf("%s, after %v: %v", name, wait, err)
			}
		}
	}
}

// The report to systemd about the server is right with and without TLS, and if nothing answers.
func TestAnswers(t *testing.T) {
	if err := answers(t.Context(), nil, false); err != nil {
		t.Errorf("no address: %v", err)
	}
	asked := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the project is asked for something") })
	plain, secure := httptest.NewServer(asked), httptest.NewTLSServer(asked)
	defer plain.Close()
	defer secure.Close()
	if err := answers(t.Context(), plain.Listener, false); err != nil {
		t.Error(err)
	}
	if err := answers(t.Context(), secure.Listener, true); err != nil {
		t.Error(err)
	}
	deaf, err := listenAt(t.Context(), "127.0.0.1:0", "listen")
	must(t, err)
	for _, tls := range []bool{false, true} {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		if err := answers(ctx, deaf, tls); err == nil {
			t.Error("a listener that accepts nothing answers")
		}
		cancel()
	}
	must(t, deaf.Close())
	if err := answers(t.Context(), deaf, false); err == nil {
		t.Error("a listener that is closed answers")
	}
}

// TestTakenAddress expects the setting that a second process with an address needs.
func TestTakenAddress(t *testing.T) {
	first, err := listenAt(t.Context(), "127.0.0.1:0", "listen")
	must(t, err)
	at := first.Addr().String()
	_, err = listenAt(t.Context(), at, "admin_listen in server.toml")
	want := at + " is in use by another program\nYou can: end that program, unless it serves this project already, or choose another address (admin_listen in server.toml)"
	if text := explain(err, nil); text != want {
		t.Errorf("got %q, want %q", text, want)
	}
	must(t, first.Close())
}
