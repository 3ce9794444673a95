package agent_test

import (
	"testing"
	"time"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/resource"
	"github.com/starling-grid/starling/state"
)

// A device for which the project had no work is included in a request that is made for the CPUs. If
// there is none again, its wait does not grow.
func TestADeviceThatWaitsIsAskedForAlong(t *testing.T) {
	t.Parallel()
	const fake = resource.Kind("fake")
	until := time.Date(2000, 1, 1, 1, 0, 0, 0, time.UTC) // in the bubble's first hour
	none := protocol.SchedulerReply{ProjectName: "Demo", MasterURL: demoURL, Messages: []protocol.Message{{Priority: protocol.PriorityLow, Text: "No tasks sent"}}}
	w := newWorld(t, demoURL, withMaster(t, demoURL, answer{code: 200, body: none.Encode()}), func(db *state.DB, tx *state.Tx) {
		p := state.Project{MasterURL: demoURL, SchedulerURLs: []string{demoURL + "cgi"}, HostID: 1, Contact: state.Contact{Initialized: true}}
		p.SetStream(fake, state.Stream{Retry: state.Retry{Failures: 3, NextTry: until}})
		db.Projects.Put(tx, demoURL, p)
	})
	w.configure(t, "[[coproc]]\ntype = \"fake\"\ncount = 1\n")
	w.run(func(t *testing.T) {
		w.after(t, time.Minute)
		r := w.request(t, 0)
		if r.CPUReqSeconds <= 0 || len(r.Coprocs) != 1 || r.Coprocs[0].ReqSeconds <= 0 {
			t.Errorf("asked for %v s of the CPUs and %+v", r.CPUReqSeconds, r.Coprocs)
		}
		d, err := w.a.Decision(t.Context())
		must(t, err)
		if got := d.Snapshot.Projects[0].Others[fake].Backoff; !got.Equal(until) {
			t.Errorf("the device waits until %v, want %v", got, until)
		}
		if got := d.Snapshot.Projects[0].Backoff; !got.After(d.Snapshot.Now) {
			t.Errorf("the CPUs do not wait: %v", got)
		}
	})
}
