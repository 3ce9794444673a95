package feeder_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/starling-grid/starling/server/feeder"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/store/storetest"
)

// A world is a database with work in it.
type world struct {
	*testing.T
	storetest.World
	st *store.Store
	f  feeder.Feeder

	now time.Time
}

func newWorld(t *testing.T) *world {
	st := storetest.Open(t, "")
	return &world{T: t, World: storetest.Fill(t, st), st: st, now: storetest.T0}
}

// add makes n workunits with a result each, and returns the results' ids.
func (w *world) add(name string, n int, change func(*store.Workunit)) (ids []int64) {
	w.Helper()
	for i := range n {
		wu := w.Workunit(fmt.Sprint(name, i))
		change(&wu)
		_, rs := storetest.Add(w.T, w.st, wu, 1)
		ids = append(ids, rs[0].ID)
	}
	return ids
}

// otherApp adds a second application and returns its id.
func (w *world) otherApp() (id int64) {
	w.Helper()
	storetest.Update(w, w.st, func(tx *store.Tx) (err error) {
		id, err = tx.InsertApp(store.App{Name: "other", Validator: "trivial", Assimilator: "copy"})
		return err
	})
	return id
}

// lease leases up to n results that need at most the given memory. Each counts as one second of
// computing. It returns their IDs, and the number of results that were looked at.
func (w *world) lease(n int, memory float64, targets ...store.Target) (l *feeder.Lease, got []int64, looked int) {
	w.Helper()
	err := w.st.View(w.Context(), func(tx *store.View) (err error) {
		got, looked = nil, 0
		l, err = w.f.Lease(tx, w.now, feeder.Want{
			Targets: targets,
			Kind:    func(head []store.Candidate) bool { return store.AtLeast(head[0].RscMemoryBound) <= memory },
			Fits: func(c *store.Candidate) bool {
				looked++
				return c.RscMemoryBound <= memory
			},
			Fit: func(*store.Candidate) store.Fit {
				return store.Fit{Memory: memory, Disk: 1e300, Bandwidth: 1e300, Now: storetest.T0}
			},
			Take: func(c store.Candidate) (float64, bool) {
				got = append(got, c.ID)
				return 1, len(got) < n
			},
		})
		return err
	})
	if err != nil {
		w.Fatal(err)
	}
	return l, got, looked
}

func (w *world) send(ids ...int64) error {
	return w.st.Update(w.Context(), func(tx *store.Tx) error {
		for _, id := range ids {
			if err := tx.Send(store.Result{ID: id, HostID: w.Host.ID, UserID: w.User.ID, FlopsEstimate: 1e9, SentTime: storetest.T0, ReportDeadline: storetest.T0}); err != nil {
				return err
			}
		}
		return nil
	})
}

func nothing(*store.Workunit) {}

// Once no more of a kind is of use, no more of it is taken, and the database is not searched for
// it.
func TestNoMoreOfAKind(t *testing.T) {
	w := newWorld(t)
	w.add("a", 30, nothing)
	other := w.otherApp()
	of := w.add("b", 2, func(wu *store.Workunit) { wu.AppID = other })
	more, looked := 2, 0
	var got []int64
	err := w.st.View(w.Context(), func(tx *store.View) error {
		l, err := w.f.Lease(tx, w.now, feeder.Want{
			Kind: func([]store.Candidate) bool { return true },
			More: func(c *store.Candidate) bool { return c.AppID == other || more > 0 },
			Fits: func(c *store.Candidate) bool {
				looked++
				return c.AppID == other || more > 0
			},
			Fit: func(*store.Candidate) store.Fit {
				return store.Fit{Memory: 1e300, Disk: 1e300, Bandwidth: 1e300, Now: storetest.T0}
			},
			Take: func(c store.Candidate) (float64, bool) {
				got = append(got, c.ID)
				if c.AppID != other {
					more--
				}
				return 1, true
			},
		})
		if err == nil {
			l.End(nil)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	taken := slices.DeleteFunc(slices.Clone(got), func(id int64) bool { return slices.Contains(of, id) })
	if len(taken) != 2 || len(got) != 4 || looked > 8 {
		t.Errorf("%d of the first kind and %d in all were taken, %d looked at; want 2, 4 and few", len(taken), len(got), looked)
	}
}

// Results leased by one request are not offered to others until it ends. Results that were sent are
// never offered again.
func TestLeases(t *testing.T) {
	for _, fresh := range []time.Duration{0, time.Hour} {
		w := newWorld(t)
		w.f.Fresh = fresh
		ids := w.add("a", 5, nothing)
		_ = w.st.View(t.Context(), func(tx *store.View) error {
			defer func() { _ = recover() }()
			_, err := w.f.Lease(tx, w.now, feeder.Want{
				Kind: func([]store.Candidate) bool { return true }, Fits: func(*store.Candidate) bool { return true },
				Take: func(c store.Candidate) (float64, bool) {
					if c.ID == ids[1] {
						panic("nothing stays leased")
					}
					return 1, true
				},
			})
			return err
		})
		one, a, _ := w.lease(2, 1e300)
		two, b, _ := w.lease(9, 1e300)
		if !slices.Equal(a, ids[:2]) || !slices.Equal(b, ids[2:]) {
			t.Errorf("got %v and %v of %v", a, b, ids)
		}
		three, c, _ := w.lease(1, 1e300)
		if len(c) != 0 || !three.Crowded {
			t.Errorf("got %v, crowded %v, while all is leased", c, three.Crowded)
		}
		three.End(nil)
		if err := w.send(a...); err != nil {
			t.Fatal(err)
		}
		one.End(a)
		two.End(nil)
		four, d, _ := w.lease(9, 1e300)
		if !slices.Equal(d, ids[2:]) {
			t.Errorf("got %v, want what was given back, %v", d, ids[2:])
		}
		four.End(nil)
	}
}

// Results in memory may be old, and the lease is marked as such. After a lease was lost they are
// read again.
func TestStale(t *testing.T) {
	w := newWorld(t)
	w.f.Fresh = time.Hour
	old := w.add("a", 1, nothing)
	l, _, _ := w.lease(1, 1e300)
	l.End(nil)
	urgent := w.add("b", 1, func(wu *store.Workunit) { wu.Priority = 9 })
	l, got, _ := w.lease(1, 1e300)
	if !l.Stale || !slices.Equal(got, old) {
		t.Fatalf("stale %v, got %v", l.Stale, got)
	}
	l.Lost()
	l, got, _ = w.lease(1, 1e300)
	if l.Stale || !slices.Equal(got, urgent) {
		t.Errorf("stale %v, got %v, want %v", l.Stale, got, urgent)
	}
	l.End(nil)
}

// Results are ordered by priority. With the same priority, applications take turns by the computing
// time that each got, and one with little work is not hidden by one with much.
func TestOrder(t *testing.T) {
	w := newWorld(t)
	other := w.otherApp()
	much := w.add("much", 50, nothing)
	little := w.add("little", 5, func(wu *store.Workunit) { wu.AppID = other })
	high := w.add("high", 1, func(wu *store.Workunit) { wu.AppID, wu.Priority = other, 1 })
	var got []int64
	for range 12 {
		l, ids, _ := w.lease(1, 1e300)
		if err := w.send(ids...); err != nil {
			t.Fatal(err)
		}
		l.End(ids)
		got = append(got, ids...)
	}
	if got[0] != high[0] {
		t.Errorf("the first is %d, want %d of high priority", got[0], high[0])
	}
	for _, id := range little {
		if !slices.Contains(got, id) {
			t.Errorf("%d of the small application is not among the first 12: %v", id, got)
		}
	}
	if mine := slices.DeleteFunc(got, func(id int64) bool { return !slices.Contains(much, id) }); !slices.IsSorted(mine) {
		t.Errorf("not the oldest first: %v", mine)
	}
}

// An application that had no work for a long time does not get everything when it has some.
func TestThePastFades(t *testing.T) {
	w := newWorld(t)
	other := w.otherApp()
	steady := w.add("steady", 300, nothing)
	take := func(n int) (mine int) {
		for range n {
			l, ids, _ := w.lease(1, 1e300)
			if err := w.send(ids...); err != nil {
				t.Fatal(err)
			}
			l.End(ids)
			if slices.Contains(steady, ids[0]) {
				mine++
			}
			w.now = w.now.Add(time.Minute)
		}
		return mine
	}
	if got := take(100); got != 100 {
		t.Fatalf("it got %d of 100 alone", got)
	}
	w.now = w.now.Add(12 * time.Hour)
	w.add("new", 100, func(wu *store.Workunit) { wu.AppID = other })
	if got := take(40); got < 19 || got > 21 {
		t.Errorf("half a day later it got %d of 40, want half", got)
	}
}

// The results that a request looks at do not depend on the work that waits for others.
func TestCostIsIndependentOfWhatWaits(t *testing.T) {
	for name, memory := range map[string]float64{"much more": 1e12, "a little more": 1.9e9} {
		var cost [2]int
		for i, n := range []int{50, 500} {
			w := newWorld(t)
			w.add("front", n, func(wu *store.Workunit) { wu.RscMemoryBound = memory })
			want := w.add("mine", 3, func(wu *store.Workunit) { wu.RscMemoryBound = 1.2e9 })
			l, got, looked := w.lease(9, 1.5e9)
			l.End(nil)
			if !slices.Equal(got, want) {
				t.Errorf("%s: got %v, want %v", name, got, want)
			}
			cost[i] = looked
		}
		if cost[1] > cost[0] {
			t.Errorf("%s memory needed: behind 50 it looks at %d, behind 500 at %d", name, cost[0], cost[1])
		}
	}
}

// If several processes share a database, each sends its own part first, however far back it is in
// the queue. It sends more urgent work before that, and the others' parts when its own is empty.
func TestOwnFirst(t *testing.T) {
	w := newWorld(t)
	w.f.Fresh = time.Hour
	mine := store.Shard{Index: 1, Count: 2}
	w.f.Shard = func() store.Shard { return mine }
	low := w.add("low", 60, nothing)
	high := w.add("high", 4, func(wu *store.Workunit) { wu.Priority = 5 })
	var want []int64
	for _, ids := range [][]int64{high, low} {
		for _, first := range []bool{true, false} {
			for _, id := range ids {
				if mine.Has(id) == first {
					want = append(want, id)
				}
			}
		}
	}
	_, got, _ := w.lease(1000, 1e300)
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// Many concurrent requests: each result is sent to one of them, and all results are sent.
func TestSideBySide(t *testing.T) {
	w := newWorld(t)
	w.f.Fresh = time.Hour
	w.f.Shard = func() store.Shard { return store.Shard{Index: 1, Count: 2} }
	const n = 200
	w.add("a", n/2, nothing)
	w.add("b", n/2, func(wu *store.Workunit) { wu.RscMemoryBound = 1e12 })
	var mu sync.Mutex
	sent := make(map[int64]int)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for idle := 0; idle < 3; {
				l, got, _ := w.lease(3, 1e300)
				if len(got) == 0 {
					l.Lost()
					idle++
					continue
				}
				idle = 0
				if err := w.send(got...); err != nil {
					t.Error(err)
					l.Lost()
					return
				}
				l.End(got)
				mu.Lock()
				for _, id := range got {
					sent[id]++
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if len(sent) != n {
		t.Errorf("%d results were sent, want %d", len(sent), n)
	}
	for id, times := range sent {
		if times != 1 {
			t.Errorf("result %d was sent %d times", id, times)
		}
	}
}

// Work for one is in front for it. Others do not see it, and it hides nothing from them,
// however much there is.
func TestTargets(t *testing.T) {
	for _, fresh := range []time.Duration{0, time.Hour} {
		w := newWorld(t)
		w.f.Fresh = fresh
		mine, other := store.Target{Type: store.TargetHost, ID: 7}, store.Target{Type: store.TargetUser, ID: 7}
		for i := range 50 {
			w.add(fmt.Sprint("for", i), 1, func(wu *store.Workunit) {
				wu.Target, wu.Priority = store.Target{Type: store.TargetUser, ID: int64(100 + i)}, 9
			})
		}
		all := w.add("all", 2, func(wu *store.Workunit) { wu.Priority = 5 })
		ids := w.add("mine", 2, func(wu *store.Workunit) { wu.Target = mine })
		one, got, looked := w.lease(9, 1e300)
		if !slices.Equal(got, all) || looked != 2 {
			t.Errorf("anybody: got %v after looking at %d, want %v", got, looked, all)
		}
		one.End(nil)
		two, got, looked := w.lease(9, 1e300, mine, other)
		if want := slices.Concat(ids, all); !slices.Equal(got, want) || looked != 4 {
			t.Errorf("for one: got %v after looking at %d, want %v", got, looked, want)
		}
		if err := w.send(ids[0]); err != nil {
			t.Fatal(err)
		}
		two.End(ids[:1])
		if _, got, _ = w.lease(1, 1e300, mine); !slices.Equal(got, ids[1:]) {
			t.Errorf("then: got %v, want %v", got, ids[1:])
		}
	}
}

// All the work of a project may be for certain targets.
func TestNothingButTargets(t *testing.T) {
	w := newWorld(t)
	w.f.Fresh = time.Hour
	mine := store.Target{Type: store.TargetUser, ID: 7}
	ids := w.add("mine", 1, func(wu *store.Workunit) { wu.Target = mine })
	if _, got, looked := w.lease(9, 1e300); len(got) != 0 || looked != 0 {
		t.Errorf("anybody: got %v after looking at %d", got, looked)
	}
	if _, got, _ := w.lease(9, 1e300, mine); !slices.Equal(got, ids) {
		t.Errorf("got %v, want %v", got, ids)
	}
}

// If nothing of a kind fits a host, the kind is not searched again at each request of that host or
// of one that can do less.
func TestBarrenStretch(t *testing.T) {
	w := newWorld(t)
	w.f.Fresh = 20 * time.Second
	w.add("front", 20, func(wu *store.Workunit) { wu.RscMemoryBound = 1.59e9 })
	try := func(memory float64) []int64 {
		t.Helper()
		l, got, _ := w.lease(1, memory)
		l.End(nil)
		return got
	}
	if got := try(1.55e9); len(got) > 0 {
		t.Fatalf("got %v, though nothing fits", got)
	}
	mine := w.add("mine", 1, func(wu *store.Workunit) { wu.RscMemoryBound = 1.51e9 })
	for memory, want := range map[float64]int{1.55e9: 0, 1.52e9: 0, 1.58e9: 1} {
		if got := try(memory); len(got) != want {
			t.Errorf("with %v of memory: got %v, want %d", memory, got, want)
		}
	}
	w.now = w.now.Add(11 * time.Second)
	if got := try(1.55e9); !slices.Equal(got, mine) {
		t.Errorf("after a while: got %v, want %v", got, mine)
	}
}

// A host first gets results that need files it has, among those of the kind whose turn it is and of
// the same priority. Then it gets the others in order.
func TestLocalFirst(t *testing.T) {
	w := newWorld(t)
	w.f.Fresh = time.Minute
	ids := w.add("a", 40, nothing)
	urgent := w.add("urgent", 1, func(wu *store.Workunit) { wu.Priority = 9 })
	bytes := map[int64]int64{ids[5]: 10, ids[33]: 1000, ids[39]: 10, urgent[0]: 0}
	lease := func(n int) (got []int64) {
		t.Helper()
		err := w.st.View(w.Context(), func(tx *store.View) error {
			got = nil
			_, err := w.f.Lease(tx, w.now, feeder.Want{
				Kind:  func([]store.Candidate) bool { return true },
				Fits:  func(*store.Candidate) bool { return true },
				Local: func(c *store.Candidate) int64 { return bytes[c.ID] },
				Take: func(c store.Candidate) (float64, bool) {
					got = append(got, c.ID)
					return 1, len(got) < n
				},
			})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if got, want := lease(6), []int64{urgent[0], ids[33], ids[5], ids[39], ids[0], ids[1]}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got, want := lease(2), []int64{ids[2], ids[3]}; !slices.Equal(got, want) {
		t.Errorf("then got %v, want %v", got, want)
	}
	if got := lease(100); len(got) != 33 || !slices.IsSorted(got) {
		t.Errorf("the rest: %v", got)
	}
}
