package scheduler_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/store"
)

// Requests with keys of no account, by the thousand, get a readable answer and change nothing.
// Requests with a valid key are served between them.
func TestStrangersByTheThousand(t *testing.T) {
	w := newWorld(t)
	w.addWork("wu", 1)
	var log bytes.Buffer
	w.s.Log = slog.New(slog.NewTextHandler(&log, nil))
	const strangers, each = 8, 250
	count := func() (n int) {
		err := w.store.View(t.Context(), func(tx *store.View) error {
			hosts, err := tx.HostsOfUser(w.User.ID, 100)
			n = len(hosts)
			return err
		})
		must(t, err)
		return n
	}
	before := count()
	var wg sync.WaitGroup
	for i := range strangers {
		wg.Go(func() {
			for k := range each {
				req := protocol.SchedulerRequest{
					Authenticator: protocol.Authenticator(fmt.Sprintf("ff%030x", i*each+k)), HostID: w.Host.ID,
					Platform: "x86_64-pc-linux-gnu", CPUReqSeconds: 1,
				}
				reply, err := w.s.Handle(t.Context(), req.Encode(), "192.0.2.1", w.now)
				if err != nil || len(reply.Messages) != 1 || len(reply.Results) > 0 || !strings.Contains(reply.Messages[0].Text, "Invalid or missing account key") {
					t.Errorf("got %+v, %v", reply, err)
					return
				}
			}
		})
	}
	req := protocol.SchedulerRequest{
		Authenticator: w.User.Authenticator, HostID: w.Host.ID, RPCSeqno: 1000, Platform: "x86_64-pc-linux-gnu", CPUReqSeconds: 1,
	}
	reply, err := w.s.Handle(t.Context(), req.Encode(), "192.0.2.2", w.now)
	wg.Wait()
	if err != nil || len(reply.Results) != 1 {
		t.Errorf("who has a key got %+v, %v", reply, err)
	}
	if n := count(); n != before {
		t.Errorf("%d computers, want %d", n, before)
	}
	if n := strings.Count(log.String(), "unknown account key"); n != strangers*each {
		t.Errorf("%d lines in the log, want one for each", n)
	}
}
