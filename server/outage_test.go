package server_test

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server"
	"github.com/starling-grid/starling/server/workgen"
)

// When PostgreSQL goes away the server says so, to clients and in its log; when it
// is back, all goes on without a restart, and nothing is lost.
func TestTheDatabaseGoesAwayAndComesBack(t *testing.T) {
	pg := onPostgres(t)
	w := newWorld(t)
	w.setUp()
	c := client{w: w, key: w.user("ada@example.org"), name: "box"}
	w.create(workgen.Params{}, "text")
	reply := c.fetch()
	if len(reply.Results) != 1 {
		t.Fatalf("got %+v", reply.Results)
	}

	pg.Do(t, "stop -m immediate") // as after a power cut: no connection is closed in order
	req := protocol.SchedulerRequest{Authenticator: c.key, HostID: c.host, RPCSeqno: 9, Client: protocol.Version{Major: 7}, Platform: "x86_64-pc-linux-gnu"}
	res := w.do("POST", master+"cgi", bytes.NewReader(req.Encode()))
	_ = res.Body.Close()
	if res.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("a client got HTTP %d, want 503", res.StatusCode)
	}
	if err := w.p.RunOnce(t.Context(), w.now()); err == nil || !strings.Contains(err.Error(), "transitioner: read database: ") {
		t.Errorf("a daemon got %v", err)
	}
	if _, err := w.p.AddUser(t.Context(), "bob@example.org", "", "", w.now()); err == nil ||
		!strings.Contains(err.Error(), "the database is out of reach, nothing was changed: ") {
		t.Errorf("an operator got %v", err)
	}

	pg.Do(t, "start")
	c.compute(reply)
	if st := w.status(); st.Results.Granted != 1 || !st.Done || st.Users != 1 {
		t.Errorf("got %+v", st)
	}
}

// The daemons of a running server come back by themselves as well.
func TestAServerOutlivesItsDatabase(t *testing.T) {
	pg := onPostgres(t)
	w := newWorld(t)
	w.setUp()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	w.must(err)
	var log bytes.Buffer
	p, err := server.Open(t.Context(), w.dir, slog.New(slog.NewTextHandler(&log, nil)))
	w.must(err)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- p.Serve(ctx, l, server.Part{}) }()
	pg.Do(t, "stop -m fast")
	for deadline := time.After(time.Minute); ; {
		res, err := http.Get("http://" + l.Addr().String() + "/demo/get_project_config.php") //nolint:noctx // on loopback
		w.must(err)
		_ = res.Body.Close()
		if res.StatusCode == http.StatusServiceUnavailable {
			break
		}
		select {
		case <-deadline:
			t.Fatalf("HTTP %d without a database", res.StatusCode)
		default:
		}
	}
	pg.Do(t, "start")
	g, err := w.p.Generator(t.Context(), "upper", w.now())
	w.must(err)
	_, err = g.Create(t.Context(), make([]workgen.Spec, 1), w.now())
	w.must(err)
	for deadline := time.After(time.Minute); w.status().Results.Total == 0; {
		select {
		case <-deadline:
			t.Fatal("the transitioner did not come back")
		case <-time.After(50 * time.Millisecond):
		}
	}
	stop()
	w.must(<-done)
	w.must(p.Close())
	if s := log.String(); strings.Contains(s, "panic") {
		t.Error(s)
	}
}
