package server_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/starling-grid/starling/internal/testwait"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server"
	"github.com/starling-grid/starling/server/operate"
	"github.com/starling-grid/starling/server/project"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/workgen"
)

// When PostgreSQL is down, the server reports it to clients and in its log. When it is back,
// everything continues without a restart, and nothing is lost.
func TestTheDatabaseGoesAwayAndComesBack(t *testing.T) {
	t.Parallel()
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
	if err := server.New(w.p, server.Part{}).RunOnce(t.Context(), w.now()); err == nil || !strings.Contains(err.Error(), "transitioner: the database cannot be reached: ") {
		t.Errorf("a daemon got %v", err)
	}
	if _, err := operate.AddUser(t.Context(), w.p, "bob@example.org", "", "", w.now()); err == nil ||
		!strings.Contains(err.Error(), "the database cannot be reached; nothing was changed: ") {
		t.Errorf("an operator got %v", err)
	}

	pg.Do(t, "start")
	c.compute(reply)
	if st := w.status(); st.Results.Granted != 1 || !st.Done || st.Users != 1 {
		t.Errorf("got %+v", st)
	}
}

// The daemons of a running server recover automatically as well.
func TestAServerOutlivesItsDatabase(t *testing.T) {
	t.Parallel()
	pg := onPostgres(t)
	w := newWorld(t)
	w.setUp()
	l := listen(t)
	var log bytes.Buffer
	p, err := project.Open(t.Context(), w.dir, slog.New(slog.NewTextHandler(&log, nil)))
	w.must(err)
	stop := served(t, server.New(p, server.Part{}), l)
	pg.Do(t, "stop -m fast")
	testwait.Until(t, "the server to notice that its database has stopped", func() bool {
		res, err := http.Get("http://" + l.Addr().String() + "/demo/get_project_config.php") //nolint:noctx // on loopback
		w.must(err)
		_ = res.Body.Close()
		return res.StatusCode == http.StatusServiceUnavailable
	})
	pg.Do(t, "start")
	g, err := operate.Generator(t.Context(), w.p, "upper", w.now())
	w.must(err)
	_, err = g.Create(t.Context(), make([]workgen.Spec, 1), w.now())
	w.must(err)
	testwait.Until(t, "the transitioner to come back", func() bool { return w.status().Results.Total > 0 })
	stop()
	w.must(p.Close())
	if s := log.String(); strings.Contains(s, "panic") {
		t.Error(s)
	}
}

// PostgreSQL is killed in the middle of requests, twice. Each request is answered or gets the reply
// to retry later, and the answers stay valid.
func TestTheDatabaseIsKilledInTheMiddle(t *testing.T) {
	t.Parallel()
	pg := onPostgres(t)
	b := besiege(t)
	const tasks = 40
	g, err := operate.Generator(t.Context(), b.p, "upper", b.now())
	b.must(err)
	_, err = g.Create(t.Context(), make([]workgen.Spec, tasks), b.now())
	b.must(err)
	b.step()
	var mu sync.Mutex
	given := make(map[string]int64) // results that were sent to hosts
	codes := make(map[int]int)
	ctx, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for i := range 4 {
		key, name, host := b.user(fmt.Sprintf("u%d@example.org", i)), fmt.Sprint("host", i), int64(0)
		wg.Go(func() {
			for seqno := int64(1); ctx.Err() == nil; seqno++ {
				code, body, err := b.try(http.MethodPost, "cgi", bytes.NewReader(request(key, name, func(r *protocol.SchedulerRequest) {
					r.HostID, r.RPCSeqno, r.CPUReqSeconds = host, seqno, 1
				})))
				mu.Lock()
				codes[code]++
				if reply, perr := protocol.ParseSchedulerReply([]byte(body)); err == nil && code == http.StatusOK && perr == nil {
					if reply.HostID != 0 {
						host, seqno = reply.HostID, 0
					}
					for _, r := range reply.Results {
						given[r.Name] = host
					}
				}
				mu.Unlock()
			}
		})
	}
	wait := func(code, more int) {
		t.Helper()
		testwait.Try(t, t.Context(), "answers", func() error {
			mu.Lock()
			defer mu.Unlock()
			if codes[code] < more {
				return fmt.Errorf("got %v, want %d of %d", codes, more, code)
			}
			return nil
		})
	}
	for range 2 {
		mu.Lock()
		well, ill := codes[http.StatusOK], codes[http.StatusServiceUnavailable]
		mu.Unlock()
		wait(http.StatusOK, well+5)
		pg.Do(t, "stop -m immediate")
		wait(http.StatusServiceUnavailable, ill+1)
		pg.Do(t, "start")
	}
	mu.Lock()
	well := codes[http.StatusOK]
	mu.Unlock()
	wait(http.StatusOK, well+5)
	stop()
	wg.Wait()
	if len(codes) != 2 {
		t.Errorf("answers: %v", codes)
	}
	if st := b.status(); st.Results.Total != tasks { // status runs doctor, too
		t.Errorf("got %+v", st.Results)
	}
	b.must(b.p.Store.View(t.Context(), func(tx *store.View) error {
		for name, host := range given {
			if r, err := tx.ResultByName(name); err != nil || r.ServerState == store.Unsent || r.HostID != host && r.ServerState == store.InProgress {
				t.Errorf("%s was given to host %d: %+v, %v", name, host, r, err)
			}
		}
		return nil
	}))
}
