package scheduler_test

import (
	"testing"
	"time"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/store/storetest"
)

// A lobby is a place where hosts wait for work.
type lobby struct {
	waits  bool
	lately time.Time
}

func (l lobby) Offer(url string, _ time.Time) *protocol.WorkEvents {
	return &protocol.WorkEvents{URL: url, Mark: "m", Heartbeat: time.Minute}
}
func (l lobby) Waits(int64) bool  { return l.waits }
func (l lobby) Lately() time.Time { return l.lately }

// A host that gets no work is called back soon if there was work lately, unless it waits for work
// or the operator has set another delay.
func TestHostsWithoutWorkAreCalledBack(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(w *world)
		want   time.Duration // or up to a slot more (0: not at all)
		offer  bool
	}{
		{"there was work a moment ago", func(*world) {}, 30 * time.Second, false},
		{"there was work ten minutes ago", func(w *world) { w.now = w.now.Add(10 * time.Minute) }, 5 * time.Minute, false},
		{"there was work a day ago", func(w *world) { w.now = w.now.Add(24 * time.Hour) }, 0, false},
		{"the operator has set a time", func(w *world) { w.s.Config.NextRPCDelay = 3600 }, time.Hour, false},
		{"hosts can wait", func(w *world) { w.s.Idle = lobby{} }, 30 * time.Second, true},
		{"new work was seen", func(w *world) {
			w.now = w.now.Add(24 * time.Hour)
			w.s.Idle = lobby{lately: w.now.Add(-4 * time.Minute)}
		}, 2 * time.Minute, true},
		{"the host waits", func(w *world) { w.s.Idle = lobby{waits: true} }, 0, true},
		{"what is left is too large for it", func(w *world) {
			w.addWork("large", 1, func(wu *store.Workunit) { wu.RscMemoryBound = 1e18 })
		}, 0, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.s.Config.ResendLostResults, w.s.Config.EventsURL = false, "http://127.0.0.1:8180/bench/work_events"
			w.addWork("wu", 1)
			first := w.first()
			if len(first.Results) != 1 || first.NextRPCDelay != 0 || first.WorkEvents != nil {
				t.Fatalf("with work, a host is told %+v", first)
			}
			tt.change(w)
			r := w.as(first.HostID, 2, "01-first-contact-with-work")
			if len(r.Results) != 0 || (r.WorkEvents != nil) != tt.offer {
				t.Fatalf("%d results, offered %+v; %s", len(r.Results), r.WorkEvents, texts(r))
			}
			if r.NextRPCDelay < tt.want || r.NextRPCDelay > tt.want+10*time.Second || tt.want == 0 && r.NextRPCDelay != 0 {
				t.Errorf("called back within %v, want %v", r.NextRPCDelay, tt.want)
			}
		})
	}
}

// Only the account's own hosts may wait, and none that is excluded.
func TestWhoMayWaitForWork(t *testing.T) {
	w := newWorld(t)
	host := w.first().HostID
	key := storetest.Get(t, w.store, (*store.View).User, storetest.Get(t, w.store, (*store.View).Host, host).UserID).Authenticator
	for _, tt := range []struct {
		name string
		key  protocol.Authenticator
		host int64
		want bool
	}{
		{"its own", key, host, true},
		{"another's key", w.account(2, 0), host, false},
		{"no key", "", host, false},
		{"a host that is not there", key, 999, false},
	} {
		if got, err := w.s.Admit(t.Context(), tt.key, tt.host); err != nil || got != tt.want {
			t.Errorf("%s: %t, %v", tt.name, got, err)
		}
	}
	w.update(func(tx *store.Tx) error {
		return store.Change(tx.Host, host, tx.UpdateHost, func(h *store.Host) {
			h.MaxResultsDay = -1
		})
	})
	if got, err := w.s.Admit(t.Context(), key, host); err != nil || got {
		t.Errorf("an excluded host: %t, %v", got, err)
	}
}
