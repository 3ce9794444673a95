package feeder_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/store/storetest"
)

// submitter is a token with its batch.
type submitter struct {
	*world
	store.APIBatch
}

func (w *world) submitter(t store.Token) submitter {
	w.Helper()
	t.CreateTime, t.Hash = w.now, t.Name
	b := store.APIBatch{CreateTime: w.now, Name: "batch", AppID: w.App.ID}
	storetest.Update(w, w.st, func(tx *store.Tx) (err error) {
		if b.TokenID, err = tx.InsertToken(t); err != nil {
			return err
		}
		b.ID, err = tx.InsertAPIBatch(b)
		return err
	})
	return submitter{w, b}
}

// submit makes n workunits with a result each.
func (s submitter) submit(name string, n int, change func(*store.Workunit)) {
	s.Helper()
	storetest.Update(s.world, s.st, func(tx *store.Tx) error {
		for i := range n {
			wu := s.Workunit(fmt.Sprintf("%d_%s%d", s.TokenID, name, i))
			wu.Batch, wu.TokenID = s.Number(), s.TokenID
			change(&wu)
			id, err := storetest.InsertWorkunit(tx, wu)
			if err != nil {
				return err
			}
			if err := tx.AddResult(store.Result{
				CreateTime: s.now, WorkunitID: id, AppID: wu.AppID, Name: wu.Name + "_0", Batch: wu.Batch, Priority: wu.Priority, ServerState: store.Unsent, Kind: wu.Kind(),
			}); err != nil {
				return err
			}
		}
		return nil
	})
}

// next sends one result and returns it with its workunit, or false without unsent work.
func (w *world) next() (r store.Result, wu store.Workunit, ok bool) {
	w.Helper()
	l, ids, _ := w.lease(1, 1e300)
	if len(ids) == 0 {
		l.Lost()
		if l, ids, _ = w.lease(1, 1e300); len(ids) == 0 {
			l.End(nil)
			return r, wu, false
		}
	}
	if err := w.send(ids...); err != nil {
		w.Fatal(err)
	}
	l.End(ids)
	if err := w.st.View(w.Context(), func(tx *store.View) (err error) {
		if r, err = tx.Result(ids[0]); err == nil {
			wu, err = tx.Workunit(r.WorkunitID)
		}
		return err
	}); err != nil {
		w.Fatal(err)
	}
	return r, wu, true
}

// finish makes a result that was expected to take a second, and took some, count.
func (w *world) finish(old store.Result, seconds float64) {
	w.Helper()
	over := old
	over.ServerState, over.Outcome, over.ReceivedTime, over.CPUTime, over.ElapsedTime = store.Over, store.Success, w.now, seconds, seconds
	counted := over
	counted.FileDeleteState = store.DeleteReady
	storetest.Update(w, w.st, func(tx *store.Tx) error {
		if err := tx.SaveResult(old, over); err != nil {
			return err
		}
		return tx.SaveResult(over, counted)
	})
}

// A token that floods an application does not keep another one waiting. Priorities order the work of a token.
func TestAFloodDelaysNobody(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.f.Fresh = time.Second / 10
	flood, other := w.submitter(store.Token{Name: "flood"}), w.submitter(store.Token{Name: "other"})
	flood.submit("a", 10_000, nothing)
	sent := func() store.Workunit {
		t.Helper()
		_, wu, ok := w.next()
		if !ok {
			t.Fatal("nothing is sent")
		}
		w.now = w.now.Add(time.Second)
		return wu
	}
	for range 500 {
		sent()
	}
	other.submit("later", 40, nothing)
	other.submit("first", 10, func(wu *store.Workunit) { wu.OwnPriority = 5 })
	var order []string
	for n := 0; len(order) < 50 && n < 200; n++ {
		if wu := sent(); wu.TokenID == other.TokenID {
			order = append(order, wu.Name)
		}
	}
	if len(order) < 50 {
		t.Fatalf("%d of 50 results were sent among the next 200", len(order))
	}
	if i := slices.IndexFunc(order, func(name string) bool { return strings.Contains(name, "later") }); i != 10 {
		t.Errorf("the first of low priority is number %d, want 10: %v", i, order)
	}
	for range 20 { // the flood continues
		if wu := sent(); wu.TokenID != flood.TokenID {
			t.Fatalf("%s was sent", wu.Name)
		}
	}
}

// Tokens that always have work get the computing time by their weights, whatever their estimates are.
func TestTokensShareComputingTime(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		weight float64 // of the first token, 1 for the other
		took   float64 // seconds that a result of the first takes. One of the other takes the second that is expected
	}{{1, 1}, {1, 6}, {3, 1}, {3, 0.2}} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.f.Fresh = time.Second / 10
			first, other := w.submitter(store.Token{Name: "first", Weight: c.weight}), w.submitter(store.Token{Name: "other"})
			const rounds = 480
			first.submit("a", rounds, nothing)
			other.submit("a", rounds, nothing)
			used := make(map[int64]float64)
			for i := range rounds {
				r, wu, ok := w.next()
				if !ok {
					t.Fatal("nothing is sent")
				}
				seconds := 1.0
				if wu.TokenID == first.TokenID {
					seconds = c.took
				}
				w.now = w.now.Add(time.Duration(seconds * float64(time.Second)))
				w.finish(r, seconds)
				if i >= rounds/3 { // the estimates are known
					used[wu.TokenID] += seconds
				}
			}
			if got := used[first.TokenID] / used[other.TokenID]; got < 0.93*c.weight || got > 1.07*c.weight {
				t.Errorf("the first got %.2f times as much, want %v", got, c.weight)
			}
		})
	}
}

// Work of a token that has used up its computing time waits until enough of that is old, or the limit is
// raised. Other work is sent meanwhile.
func TestUsedUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	token := store.Token{Name: "small", MaxCPUTime: 10}
	small := w.submitter(token)
	small.submit("a", 20, nothing)
	take := func(want int) {
		t.Helper()
		for i := range want + 1 {
			r, _, ok := w.next()
			if ok != (i < want) {
				t.Fatalf("after %d more results: sent %v, want %d", i, ok, want)
			}
			if ok {
				w.finish(r, 5)
			}
			w.now = w.now.Add(time.Minute)
		}
	}
	take(2)
	w.add("free", 1, nothing)
	if _, wu, ok := w.next(); !ok || wu.TokenID != 0 {
		t.Errorf("sent %v, %q; want work without a token", ok, wu.Name)
	}
	storetest.Update(t, w.st, func(tx *store.Tx) error {
		return store.Change(tx.Token, small.TokenID, tx.SaveToken, func(t *store.Token) { t.MaxCPUTime, t.Weight = 15, 1 })
	})
	w.now = w.now.Add(time.Minute)
	take(1)
	w.now = w.now.Add((store.TokenDays - 1) * 24 * time.Hour)
	take(0)
	w.now = w.now.Add(24 * time.Hour)
	take(3)
}
