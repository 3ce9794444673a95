package server_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/workgen"
)

// The last results of a batch become urgent automatically: they are sent before other work, to
// computers with a good record, with less time. The same is true for their replacements.
func TestTheLastResultsOfABatchAreUrgent(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "reliable_on_priority = 0", "reliable_on_priority = 100")
	w.setUp()
	for i := range 30 {
		w.create(workgen.Params{Name: fmt.Sprint("wu", i), Batch: 1, DelayBound: 360_000}, "")
	}
	w.create(workgen.Params{Name: "next", Batch: 2, Priority: 5, DelayBound: 360_000}, "")
	// ask asks for one result, and returns the time until its deadline.
	ask := func(c *client, want string) (reply *protocol.SchedulerReply, within time.Duration) {
		t.Helper()
		reply = c.rpc(0.01)
		if len(reply.Results) != 1 || reply.Results[0].Name != want {
			t.Fatalf("got %v, %v; want %s", reply.Results, reply.Messages, want)
		}
		return reply, time.Until(reply.Results[0].ReportDeadline).Round(time.Hour)
	}
	good := &client{w: w, key: w.user("good@example.org"), name: "good"}
	reply, within := ask(good, "next_0")
	if within != 100*time.Hour {
		t.Errorf("work of high priority that is not urgent has %v", within)
	}
	good.compute(reply)
	for i := range 27 {
		name := fmt.Sprintf("wu%d_0", i)
		if reply, within = ask(good, name); within != 100*time.Hour {
			t.Errorf("%s has %v", name, within)
		}
		good.compute(reply)
	}
	// Of 30 there are 3 left.
	w.create(workgen.Params{Name: "more", Batch: 2, Priority: 5, DelayBound: 360_000}, "")
	w.create(workgen.Params{Name: "yet_more", Batch: 2, Priority: 5, DelayBound: 360_000}, "")
	web, err := server.New(w.p, server.Part{}).Handler(func() {}) // without old work in memory
	w.must(err)
	w.web = web
	ask(&client{w: w, key: w.user("stranger@example.org"), name: "stranger"}, "more_0")
	if _, within = ask(good, "wu27_0"); within != 50*time.Hour {
		t.Errorf("the last results have %v, want half the time", within)
	}
	good.rpc(0, protocol.ReportedResult{Name: "wu27_0", State: protocol.ClientComputeError, ExitStatus: 1})
	w.step()
	w.must(w.p.Store.View(t.Context(), func(tx *store.View) error {
		for name, want := range map[string]int64{"wu26_0": 0, "wu27_1": 100, "wu28_0": 100, "wu29_0": 100, "yet_more_0": 5} {
			r, err := tx.ResultByName(name)
			if err != nil {
				return err
			}
			if r.Priority != want {
				t.Errorf("%s has priority %d, want %d", name, r.Priority, want)
			}
		}
		return nil
	}))
}
