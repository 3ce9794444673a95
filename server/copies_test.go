package server_test

import (
	"errors"
	"io/fs"
	"slices"
	"testing"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/operate"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/workgen"
)

// madeHere makes host a compute "one", which makes a file there that "two" and then "three" need.
func madeHere(t *testing.T, settings ...string) (w *world, a, b *client) {
	t.Helper()
	w = newWorld(t, settings...)
	w.setUp()
	in := []workgen.Given{{Path: w.file("in", "hello"), Logical: "in"}}
	made := []workgen.Given{{Kind: workgen.Generated, Path: "made", Logical: "in"}}
	w.must(w.ask(workgen.Spec{Params: workgen.Params{Name: "one"}, Inputs: in, Sticky: true}))
	w.must(w.ask(workgen.Spec{Params: workgen.Params{Name: "two"}, Inputs: made, Sticky: true, Predecessor: "one"}))
	w.must(w.ask(workgen.Spec{Params: workgen.Params{Name: "three"}, Inputs: made, Sticky: true, Predecessor: "two"}))
	w.step()
	a = &client{w: w, key: w.user("a@example.org"), name: "a"}
	b = &client{w: w, key: w.user("b@example.org"), name: "b"}
	first := a.fetch()
	a.compute(first)
	for _, f := range first.Files {
		if f.Sticky {
			a.held = append(a.held, protocol.FileInfo{Name: f.Name, NBytes: f.NBytes, Status: 1})
		}
	}
	a.held = append(a.held, protocol.FileInfo{Name: "made", NBytes: 4, Status: 1})
	w.step()
	return w, a, b
}

// uploads are the files that a reply wants uploaded.
func uploads(reply *protocol.SchedulerReply) (list []protocol.FileInfo) {
	for _, f := range reply.Files {
		if len(f.UploadURLs) > 0 {
			list = append(list, f)
		}
	}
	return list
}

const atOnce = "affinity_silence_minutes = 0.0001"

// A file that only a slow host has is uploaded by it as long as it answers, and the chain continues
// elsewhere.
func TestAChainLeavesASlowHost(t *testing.T) {
	t.Parallel()
	w, a, b := madeHere(t, "affinity_silence_minutes = 60", atOnce)
	if got := resultNames(b.fetch()); len(got) > 0 {
		t.Fatalf("without the file another host got %v", got)
	}
	var ordered protocol.FileInfo
	for range 2 { // the first reply may be lost
		list := uploads(a.rpc(0)) // it wants no work
		if len(list) != 1 || list[0].Name != "made" || list[0].MaxNBytes != 4 {
			t.Fatalf("ordered %+v", list)
		}
		ordered = list[0]
	}
	w.step()
	if got := resultNames(b.fetch()); len(got) > 0 {
		t.Fatalf("before the file is there another host got %v", got)
	}
	a.upload(ordered, "made")
	w.step()
	if list := uploads(a.rpc(0)); len(list) > 0 {
		t.Errorf("ordered again: %+v", list)
	}
	reply := b.fetch()
	if got := resultNames(reply); !slices.Equal(got, []string{"two_0"}) {
		t.Fatalf("another host got %v", got)
	}
	b.compute(reply)
	if text, _ := w.outcome("two"); text != "MADE" {
		t.Errorf("outcome %q", text)
	}
	w.step()
	reply = b.fetch()
	if got := resultNames(reply); !slices.Equal(got, []string{"three_0"}) {
		t.Fatalf("after that it got %v", got)
	}
	b.compute(reply)
	w.step()
	w.status()
	if n, err := w.p.Upload.Size(t.Context(), "made"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what was uploaded stays: %d, %v", n, err)
	}
	if n, err := w.p.Download.Size(t.Context(), "made"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an input file that nobody needs stays: %d, %v", n, err)
	}
}

// A file that arrived after it was no longer needed is not published.
func TestACopyThatNobodyNeeds(t *testing.T) {
	t.Parallel()
	w, a, _ := madeHere(t, "affinity_silence_minutes = 60", atOnce)
	list := uploads(a.rpc(0))
	if len(list) != 1 {
		t.Fatalf("ordered %+v", list)
	}
	_, err := operate.CancelWork(t.Context(), w.p, operate.CancelSpec{IDs: []int64{2, 3}}, w.now())
	w.must(err)
	a.upload(list[0], "made")
	w.step()
	if n, err := w.p.Download.Size(t.Context(), "made"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("published: %d, %v", n, err)
	}
	if list := uploads(a.rpc(0)); len(list) > 0 {
		t.Errorf("still ordered: %+v", list)
	}
}

// A host that takes the next workunit uploads nothing, unless the project always wants copies. Then
// the chain continues even if the host never connects again.
func TestCopiesOfWhatTasksMake(t *testing.T) {
	t.Parallel()
	for _, always := range []bool{false, true} {
		settings := []string{"affinity_silence_minutes = 60", atOnce}
		if always {
			settings = append(settings, "affinity_copies = false", "affinity_copies = true")
		}
		w, a, b := madeHere(t, settings...)
		reply := a.fetch()
		if got := resultNames(reply); !slices.Equal(got, []string{"two_0"}) {
			t.Fatalf("the host that has the file got %v", got)
		}
		if called := reply.NextRPCDelay > 0; called != always {
			t.Errorf("copies wanted %t: called back within %v", always, reply.NextRPCDelay)
		}
		ordered := uploads(a.rpc(0))
		if (len(ordered) == 1) != always {
			t.Fatalf("copies wanted %t: ordered %+v", always, ordered)
		}
		if !always {
			continue
		}
		a.upload(ordered[0], "made")
		w.step()
		w.must(w.p.Store.Update(t.Context(), func(tx *store.Tx) error { // it never connects again
			return store.Change(tx.ResultByName, "two_0", tx.SaveResult, func(after *store.Result) {
				after.ReportDeadline = w.now()
			})
		}))
		w.must(w.p.Store.Update(t.Context(), func(tx *store.Tx) error {
			x, err := tx.ResultByName("two_0")
			if err != nil {
				return err
			}
			return tx.PutOffTransition(x.WorkunitID, w.now())
		}))
		w.ahead += 1e9
		w.step()
		b.compute(b.fetch())
		if text, _ := w.outcome("two"); text != "MADE" {
			t.Errorf("outcome %q", text)
		}
	}
}
