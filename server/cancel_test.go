package server_test

import (
	"testing"

	"github.com/starling-grid/starling/server/operate"
	"github.com/starling-grid/starling/server/workgen"
)

// Cancelled work is not sent, is stopped where it runs, and reaches the assimilator as given up.
// Finished work stays.
func TestCancel(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.setUp()
	c := &client{w: w, key: w.user("a@example.org"), name: "a"}
	w.create(workgen.Params{Name: "done", Batch: 4}, "hello")
	c.compute(c.fetch())
	w.create(workgen.Params{Name: "wu", TargetNResults: 2, Batch: 4}, "hello")
	if work := c.fetch(); len(work.Results) != 1 {
		t.Fatalf("%d results: %v", len(work.Results), work.Messages)
	}
	got, err := operate.CancelWork(t.Context(), w.p, operate.CancelSpec{Batch: 4}, w.now())
	if err != nil || got.Workunits != 1 || got.Finished != 1 {
		t.Errorf("got %+v, %v", got, err)
	}
	if st := w.status(); st.Results.ByOutcome["didnt_need"] != 1 || st.Results.ByServerState["in_progress"] != 1 {
		t.Errorf("at once: %+v", st.Results)
	}
	w.step()
	if st := w.status(); !st.Done || st.Workunits.Error != 1 || st.Workunits.Canonical != 1 {
		t.Errorf("got %+v", st.Workunits)
	}
	if _, info := w.outcome("wu"); len(info.Errors) != 1 || info.Errors[0] != "cancelled" {
		t.Errorf("outcome %+v", info)
	}
	if reply := c.rpc(0); len(reply.ResultAborts) != 1 || reply.ResultAborts[0] != "wu_0" {
		t.Errorf("aborts %v", reply.ResultAborts)
	}
	if reply := (&client{w: w, key: w.user("b@example.org"), name: "b"}).fetch(); len(reply.Results) != 0 {
		t.Errorf("sent %v", reply.Results)
	}
}
