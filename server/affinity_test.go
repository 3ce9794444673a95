package server_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/operate"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/store/storetest"
	"github.com/starling-grid/starling/server/workgen"
)

func resultNames(reply *protocol.SchedulerReply) (out []string) {
	for _, r := range reply.Results {
		out = append(out, r.Name)
	}
	return out
}

// chain creates a project in which workunit "two" follows "one", and lets host a compute "one",
// whose sticky input file stays there. In each pair of change, the second text replaces the first
// in the configuration.
func chain(t *testing.T, change ...string) (w *world, a, b *client, held protocol.FileInfo) {
	t.Helper()
	w = newWorld(t, change...)
	w.setUp()
	in := []workgen.Given{{Path: w.file("in", "hello"), Logical: "in"}}
	w.must(w.ask(workgen.Spec{Params: workgen.Params{Name: "one"}, Inputs: in, Sticky: true}))
	w.must(w.ask(workgen.Spec{Params: workgen.Params{Name: "two"}, Inputs: in, Sticky: true, Predecessor: "one"}))
	w.step()
	a = &client{w: w, key: w.user("a@example.org"), name: "a"}
	b = &client{w: w, key: w.user("b@example.org"), name: "b"}
	first := a.fetch()
	if got := resultNames(first); !slices.Equal(got, []string{"one_0"}) {
		t.Fatalf("before its predecessor is done: %v", got)
	}
	for _, f := range first.Files {
		if f.Sticky {
			held = f
		}
	}
	if held.Name == "" {
		t.Fatal("no file is sticky")
	}
	a.compute(first)
	w.must(w.ask(workgen.Spec{Params: workgen.Params{Name: "urgent", Priority: 9}, Inputs: in}))
	w.step()
	return w, a, b, held
}

// If a host reports a result of a chain and asks for more, the reply announces that the next one is
// on its way, and calls the host back within seconds.
func TestTheNextOfAChainIsOnItsWay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.setUp()
	in := []workgen.Given{{Path: w.file("in", "hello"), Logical: "in"}}
	w.must(w.ask(workgen.Spec{Params: workgen.Params{Name: "one", TargetNResults: 2}, Inputs: in, Sticky: true}))
	w.must(w.ask(workgen.Spec{Params: workgen.Params{Name: "two"}, Inputs: in, Sticky: true, Predecessor: "one"}))
	w.step()
	a := &client{w: w, key: w.user("a@example.org"), name: "a"}
	work := a.fetch()
	if got := resultNames(work); !slices.Equal(got, []string{"one_0"}) {
		t.Fatalf("got %v", got)
	}
	for _, f := range work.Files {
		if f.Sticky {
			a.held = []protocol.FileInfo{{Name: f.Name, NBytes: f.NBytes, Status: 1}}
		}
		if f.Name == work.Results[0].FileRefs[0].FileName {
			a.upload(f, "HELLO")
		}
	}
	a.have = nil
	onItsWay := func(reply *protocol.SchedulerReply) {
		t.Helper()
		if len(reply.Refusals) != 1 || reply.Refusals[0].Code != protocol.RefusedChain || reply.NextRPCDelay <= 0 || reply.NextRPCDelay > 10*time.Second {
			t.Errorf("refused for %+v, to come back within %v", reply.Refusals, reply.NextRPCDelay)
		}
	}
	onItsWay(a.rpc(1, protocol.ReportedResult{Name: "one_0", State: protocol.ClientUploaded}))
	onItsWay(a.rpc(1)) // and it still is, if the host is back too soon
	w.step()
	if got := resultNames(a.fetch()); !slices.Equal(got, []string{"two_0"}) {
		t.Errorf("then it got %v", got)
	}
	if reply := a.rpc(1); len(reply.Refusals) == 0 || reply.Refusals[0].Code == protocol.RefusedChain {
		t.Errorf("with the last of the chain, it is refused for %+v", reply.Refusals)
	}
}

func TestSuccessorGoesWhereTheFilesAre(t *testing.T) {
	t.Parallel()
	t.Run("before others, and before more urgent work", func(t *testing.T) {
		w, a, b, held := chain(t)
		if got := resultNames(b.fetch()); !slices.Equal(got, []string{"urgent_0"}) {
			t.Errorf("another host got %v", got)
		}
		if f := b.fetch().Refusals; len(f) != 1 || f[0].Code != protocol.RefusedReserved {
			t.Errorf("another host was refused for %+v", f)
		}
		a.held = []protocol.FileInfo{{Name: held.Name, NBytes: held.NBytes, Status: 1}}
		reply := a.fetch()
		if got := resultNames(reply); !slices.Equal(got, []string{"two_0"}) {
			t.Errorf("the host that has the file got %v", got)
		}
		a.compute(reply)
		b.compute(&protocol.SchedulerReply{})
		if text, _ := w.outcome("two"); text != "HELLO" {
			t.Errorf("outcome %q", text)
		}
		w.status()
	})
	t.Run("first of all, if there is more urgent work", func(t *testing.T) {
		_, a, _, held := chain(t)
		a.held = []protocol.FileInfo{{Name: held.Name, NBytes: held.NBytes, Status: 1}}
		if got := resultNames(a.fetch()); !slices.Equal(got, []string{"two_0"}) {
			t.Errorf("got %v", got)
		}
	})
	t.Run("to anybody when that host lost it", func(t *testing.T) {
		_, a, b, _ := chain(t)
		a.held = []protocol.FileInfo{{Name: "another", NBytes: 1, Status: 1}}
		if got := resultNames(a.fetch()); !slices.Equal(got, []string{"urgent_0"}) {
			t.Errorf("the host that lost it got %v", got)
		}
		if got := resultNames(b.fetch()); !slices.Equal(got, []string{"two_0"}) {
			t.Errorf("another host got %v", got)
		}
	})
	t.Run("as long as that host is heard of, and to anybody when it is silent", func(t *testing.T) {
		w, a, b, held := chain(t)
		kept := func() time.Time {
			var list []store.Kept
			w.must(w.p.Store.View(t.Context(), func(tx *store.View) error {
				return tx.Ask(store.KeptFor(a.host, 10, func(k store.Kept) { list = append(list, k) }))
			}))
			if len(list) != 1 {
				t.Fatalf("kept for the host: %+v", list)
			}
			return list[0].ReservedUntil
		}
		near := func(got time.Time, want time.Duration) bool {
			return time.Until(got) <= want && time.Until(got) > want-time.Minute
		}
		if got := kept(); !near(got, time.Hour) {
			t.Errorf("reserved until %v at first", got)
		}
		reserve := func(until time.Time) {
			w.must(w.p.Store.Update(t.Context(), func(tx *store.Tx) error {
				wu, err := tx.WorkunitByName("two")
				if err != nil {
					return err
				}
				return tx.ReserveUntil(wu.ID, until)
			}))
		}
		reserve(w.now().Add(10 * time.Minute)) // as if most of the hour were over
		a.rpc(0)                               // the request does not list the file
		if got := kept(); !near(got, 10*time.Minute) {
			t.Errorf("reserved until %v for a host without the file", got)
		}
		a.held = []protocol.FileInfo{{Name: held.Name, NBytes: held.NBytes, Status: 0}}
		a.rpc(0) // it is still to fetch it
		if got := kept(); !near(got, 10*time.Minute) {
			t.Errorf("reserved until %v for a host that is to fetch the file", got)
		}
		a.held = []protocol.FileInfo{{Name: "another", NBytes: 1, Status: 1}}
		if reply := a.rpc(0); reply.NextRPCDelay != 0 {
			t.Errorf("a host without the file is to come back within %v", reply.NextRPCDelay)
		}
		if got := kept(); !near(got, 10*time.Minute) {
			t.Errorf("reserved until %v for a host that has another file", got)
		}
		a.held = []protocol.FileInfo{{Name: held.Name, NBytes: held.NBytes, Status: 1}}
		if reply := a.rpc(0); reply.NextRPCDelay != 20*time.Minute {
			t.Errorf("the host is to come back within %v", reply.NextRPCDelay)
		}
		if got := kept(); !near(got, time.Hour) {
			t.Errorf("reserved until %v after the host was heard of", got)
		}
		if got := resultNames(b.fetch()); !slices.Equal(got, []string{"urgent_0"}) {
			t.Errorf("another host got %v", got)
		}
		reserve(w.now().Add(-time.Second))
		if got := resultNames(b.fetch()); !slices.Equal(got, []string{"two_0"}) {
			t.Errorf("another host got %v", got)
		}
	})
	t.Run("to which the host is called back when it reports", func(t *testing.T) {
		w := newWorld(t)
		w.setUp()
		in := []workgen.Given{{Path: w.file("in", "hello"), Logical: "in"}}
		w.must(w.ask(workgen.Spec{Params: workgen.Params{Name: "one"}, Inputs: in, Sticky: true}))
		w.must(w.ask(workgen.Spec{Params: workgen.Params{Name: "two"}, Inputs: in, Sticky: true, Predecessor: "one"}))
		w.step()
		a := &client{w: w, key: w.user("a@example.org"), name: "a"}
		first := a.fetch()
		for _, f := range first.Files {
			if f.Sticky {
				a.held = append(a.held, protocol.FileInfo{Name: f.Name, NBytes: f.NBytes, Status: 1})
			}
		}
		if d := a.rpc(0).NextRPCDelay; d != 0 {
			t.Errorf("called back within %v before anything is reported", d)
		}
		if d := a.compute(first).NextRPCDelay; d != 3*time.Second {
			t.Errorf("called back within %v", d)
		}
	})
	t.Run("to anybody after a day", func(t *testing.T) {
		w, _, b, _ := chain(t)
		b.fetch()
		w.must(w.p.Store.Update(t.Context(), func(tx *store.Tx) error {
			wu, err := tx.WorkunitByName("two")
			if err != nil {
				return err
			}
			return tx.ReserveUntil(wu.ID, w.now().Add(-time.Second))
		}))
		if got := resultNames(b.fetch()); !slices.Equal(got, []string{"two_0"}) {
			t.Errorf("another host got %v", got)
		}
	})
	t.Run("or is given up when only a computer that is gone has a file that was made there", func(t *testing.T) {
		w := newWorld(t)
		w.setUp()
		in := []workgen.Given{{Path: w.file("in", "hello"), Logical: "in"}}
		made := []workgen.Given{{Kind: workgen.Generated, Path: "made", Logical: "in"}}
		w.must(w.ask(workgen.Spec{Params: workgen.Params{Name: "one"}, Inputs: in, Sticky: true}))
		w.must(w.ask(workgen.Spec{Params: workgen.Params{Name: "two"}, Inputs: made, Predecessor: "one"}))
		w.step()
		a := &client{w: w, key: w.user("a@example.org"), name: "a"}
		b := &client{w: w, key: w.user("b@example.org"), name: "b"}
		first := a.fetch()
		a.held = []protocol.FileInfo{{Name: "made", NBytes: 5, Status: 1}}
		a.compute(first)
		w.step()
		mask := func(day time.Duration) store.ErrorMask {
			t.Helper()
			w.ahead = day * 24 * time.Hour
			w.step()
			return storetest.Get(t, w.p.Store, (*store.View).WorkunitByName, "two").ErrorMask
		}
		if got := mask(5); got != 0 {
			t.Fatalf("after 5 days: given up (%d)", got)
		}
		if got := resultNames(b.fetch()); len(got) > 0 {
			t.Errorf("a host without the file got %v", got)
		}
		w.must(w.p.Store.Update(t.Context(), func(tx *store.Tx) error { // as if it made a request now
			return store.Change(tx.Host, a.host, tx.UpdateHost, func(after *store.Host) {
				after.RPCTime = w.now()
			})
		}))
		if got := mask(8); got != 0 {
			t.Fatalf("3 days after the host was heard of: given up (%d)", got)
		}
		if got := mask(13); got != store.ErrorCouldntSend {
			t.Errorf("8 days after the host was heard of: %d", got)
		}
	})
	t.Run("once, where it is kept for the host and anybody may have it", func(t *testing.T) {
		w, a, _, held := chain(t, "one_result_per_host_per_wu = true", "one_result_per_host_per_wu = false")
		w.must(w.p.Store.Update(t.Context(), func(tx *store.Tx) error {
			wu, err := tx.WorkunitByName("two")
			if err != nil {
				return err
			}
			return tx.ReserveUntil(wu.ID, w.now().Add(-time.Second))
		}))
		a.held = []protocol.FileInfo{{Name: held.Name, NBytes: held.NBytes, Status: 1}}
		if got := resultNames(a.rpc(1e5)); !slices.Equal(got, []string{"two_0", "urgent_0"}) {
			t.Errorf("got %v", got)
		}
	})
	t.Run("which must exist", func(t *testing.T) {
		w := newWorld(t)
		w.setUp()
		if err := w.ask(workgen.Spec{Predecessor: "nobody"}); err == nil {
			t.Error("a workunit comes after one that is not there")
		}
	})
}

// A host is ordered to fetch, upload and delete files of no result until it has done so.
func TestFileOrders(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.setUp()
	c := &client{w: w, key: w.user("a@example.org"), name: "a"}
	c.rpc(0)
	order := func(action store.FileAction, name string) {
		t.Helper()
		w.must(operate.OrderFile(t.Context(), w.p, c.host, action, name, 1000, w.now()))
	}
	if err := operate.OrderFile(t.Context(), w.p, c.host, store.FilePut, "nothing", 0, w.now()); err == nil {
		t.Error("a host was told to fetch a file that is not there")
	}
	if err := operate.OrderFile(t.Context(), w.p, 99, store.FileDelete, "x", 0, w.now()); err == nil {
		t.Error("an order for a host that is not there")
	}
	_, err := operate.StageFile(t.Context(), w.p, w.file("x", "hello"), "stored")
	w.must(err)
	order(store.FilePut, "stored")
	for range 2 { // the first reply may be lost
		reply := c.rpc(0)
		if len(reply.Files) != 1 || !reply.Files[0].Sticky || c.download(reply.Files[0]) != "hello" {
			t.Fatalf("to fetch: %+v", reply.Files)
		}
	}
	for _, status := range []int{protocol.ErrNumFileTooBig, 0} { // its volunteer refuses the file at first
		c.held = []protocol.FileInfo{{Name: "stored", Status: status}}
		if reply := c.rpc(0); len(reply.Files) != 1 {
			t.Errorf("it has not got it: %+v", reply.Files)
		}
		w.must(w.p.Store.View(t.Context(), func(tx *store.View) error {
			orders, err := tx.FileOrders(c.host, 9)
			if len(orders) != 1 || orders[0].Status != int64(status) {
				t.Errorf("the orders of a host that says %d: %+v", status, orders)
			}
			return err
		}))
	}
	c.held = []protocol.FileInfo{{Name: "stored", NBytes: 5, Status: 1}}
	if reply := c.rpc(0); len(reply.Files) != 0 {
		t.Errorf("it has it: %+v", reply.Files)
	}
	order(store.FileGet, "stored")
	reply := c.rpc(0)
	if len(reply.Files) != 1 || len(reply.Files[0].UploadURLs) != 1 || len(reply.Files[0].DownloadURLs) != 0 {
		t.Fatalf("to upload: %+v", reply.Files)
	}
	c.upload(reply.Files[0], "hello")
	order(store.FileDelete, "stored")
	reply = c.rpc(0)
	if !slices.Equal(reply.DeleteFiles, []string{"stored"}) || len(reply.Files) != 0 {
		t.Errorf("to delete: %v, %+v", reply.DeleteFiles, reply.Files)
	}
	if files := storetest.Get(t, w.p.Store, (*store.View).HostFiles, c.host); len(files) != 1 || files[0].Name != "stored" || files[0].NBytes != 5 {
		t.Errorf("on record: %+v", files)
	}
	c.held = nil
	if reply := c.rpc(0); len(reply.DeleteFiles) != 0 {
		t.Errorf("it is gone: %v", reply.DeleteFiles)
	}
	h, files := storetest.Get(t, w.p.Store, (*store.View).Host, c.host), storetest.Get(t, w.p.Store, (*store.View).HostFiles, c.host)
	if h.FileOrders != 0 || h.StickyHash != 0 || len(files) != 0 {
		t.Errorf("%d orders left, files %v", h.FileOrders, files)
	}
	if b, err := os.ReadFile(filepath.Join(w.dir, "upload", protocol.DirHash("stored", 1024), "stored")); err != nil || string(b) != "hello" {
		t.Errorf("uploaded: %q, %v", b, err)
	}
}
