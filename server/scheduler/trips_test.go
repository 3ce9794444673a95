package scheduler_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/starling-grid/starling/internal/testpg"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/scheduler"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/store/storetest"
)

// countTrips starts a proxy between a process and PostgreSQL. It returns the URL of the proxy, and
// a counter of the times that the process has waited for an answer.
func countTrips(t *testing.T, where string) (string, *atomic.Int64) {
	t.Helper()
	u, err := url.Parse(where)
	must(t, err)
	dir, err := os.MkdirTemp("", "trips") //nolint:usetesting // t.TempDir's names are too long for a socket
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	q := u.Query()
	behind := filepath.Join(q.Get("host"), ".s.PGSQL.5432")
	q.Set("host", dir)
	u.RawQuery = q.Encode()
	l, err := net.Listen("unix", filepath.Join(dir, ".s.PGSQL.5432")) //nolint:noctx // ends with the test
	must(t, err)
	t.Cleanup(func() { _ = l.Close() })
	trips := new(atomic.Int64)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			s, err := net.Dial("unix", behind) //nolint:noctx // likewise
			if err != nil {
				_ = c.Close()
				continue
			}
			go func() { _, _ = io.Copy(c, s); _ = c.Close() }()
			go func() { countMessages(s, c, trips); _ = s.Close() }()
		}
	}()
	return u.String(), trips
}

// countMessages forwards a client's messages, and counts the ones that ask for an answer at once:
// Sync and Query.
func countMessages(to io.Writer, from io.Reader, trips *atomic.Int64) {
	for kind := []byte(nil); ; kind = make([]byte, 1) { // the first message lacks a kind
		if _, err := io.ReadFull(from, kind); err != nil {
			return
		}
		size := make([]byte, 4)
		if _, err := io.ReadFull(from, size); err != nil {
			return
		}
		if len(kind) > 0 && (kind[0] == 'S' || kind[0] == 'Q') {
			trips.Add(1)
		}
		body := io.LimitReader(from, int64(binary.BigEndian.Uint32(size))-4)
		if _, err := io.Copy(to, io.MultiReader(bytes.NewReader(kind), bytes.NewReader(size), body)); err != nil {
			return
		}
	}
}

// However many results a request reports and gets, it takes only a few round trips to PostgreSQL.
func TestARequestIsAFewTripsToPostgreSQL(t *testing.T) {
	where, trips := countTrips(t, testpg.Start(t).Database(t))
	st, err := store.Open(t.Context(), where)
	must(t, err)
	t.Cleanup(func() { _ = st.Close() })
	w := &world{t: t, store: st, now: storetest.T0, s: &scheduler.Scheduler{Store: st, Log: slog.New(slog.DiscardHandler), Config: scheduler.Config{
		Name: "Bench", MasterURL: "http://127.0.0.1/", CodeSignKey: "1024\nab\n.\n",
		Settings: scheduler.Settings{ResendLostResults: true, SendResultAbort: true},
	}}}
	w.s.Config.DailyResultQuota, w.s.Config.MaxWusInProgress, w.s.Config.OneResultPerUserPerWU = 1000, 1000, true
	filled := storetest.Fill(t, st)
	w.World = &filled
	w.s.Feeder.Fresh = time.Hour
	w.addVersion("x86_64-pc-linux-gnu", 100, false)
	for i := range 80 {
		w.addWork(fmt.Sprint("w", i), 1)
	}
	var host int64
	var have []protocol.ReportedResult
	for i, tt := range []struct{ ask, most int }{{1, 0}, {1, 0}, {1, 6}, {30, 0}, {30, 8}} { // at first statements are prepared, and the feeder reads more in pages
		before := trips.Load()
		got := w.ask(func(r *protocol.SchedulerRequest) {
			r.HostID, r.RPCSeqno, r.CPUReqSeconds, r.Results = host, int64(i), float64(tt.ask)-0.5, have
		})
		n := int(trips.Load() - before)
		if len(got.Results) != tt.ask {
			t.Fatalf("request %d: %d results, want %d: %s", i, len(got.Results), tt.ask, texts(got))
		}
		t.Logf("%d results reported and %d sent: %d trips", len(have), len(got.Results), n)
		if tt.most > 0 && n > tt.most {
			t.Errorf("%d results reported and %d sent: %d trips, at most %d are wanted", len(have), len(got.Results), n, tt.most)
		}
		if got.HostID != 0 {
			host = got.HostID
		}
		have = nil
		for _, x := range got.Results {
			have = append(have, protocol.ReportedResult{Name: x.Name, State: protocol.ClientUploaded})
		}
	}
}
