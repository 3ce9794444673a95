package storetest

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/starling-grid/starling/server/store"
)

func queues(t *testing.T, s *store.Store) {
	w := Fill(t, s)
	wu, rs := Add(t, s, w.Workunit("a"), 1)
	lens := func(when time.Time) (out [5]int) {
		view(t, s, func(tx *store.View) error {
			for i, q := range []func() ([]int64, error){
				func() ([]int64, error) { return tx.Due(when, 10) },
				func() ([]int64, error) { return tx.Waiting(store.NeedValidate, 0, 10) },
				func() ([]int64, error) { return tx.Waiting(store.ToAssimilate, 0, 10) },
				func() ([]int64, error) { return tx.Waiting(store.InputsToDelete, 0, 10) },
				func() ([]int64, error) { return tx.Waiting(store.OutputsToDelete, 0, 10) },
			} {
				ids, err := q()
				if err != nil {
					return err
				}
				out[i] = len(ids)
			}
			return nil
		})
		return out
	}
	if got, want := lens(T0), [5]int{1, 0, 0, 0, 0}; got != want {
		t.Errorf("new: got %v, want %v", got, want)
	}
	if got, want := lens(T0.Add(-time.Second)), [5]int{}; got != want {
		t.Errorf("before it is due: got %v, want %v", got, want)
	}
	step := func(change func(*store.Workunit), want [5]int) {
		t.Helper()
		after := wu
		change(&after)
		Update(t, s, func(tx *store.Tx) error { return tx.SaveWorkunit(wu, after) })
		wu = after
		if got := lens(T0); got != want {
			t.Errorf("got %v, want %v", got, want)
		}
	}
	step(func(w *store.Workunit) { w.TransitionTime = store.Never }, [5]int{})
	step(func(w *store.Workunit) { w.NeedValidate = true }, [5]int{0, 1, 0, 0, 0})
	step(func(w *store.Workunit) { w.NeedValidate, w.AssimilateState = false, store.AssimilateReady }, [5]int{0, 0, 1, 0, 0})
	step(func(w *store.Workunit) {
		w.AssimilateState, w.FileDeleteState = store.AssimilateDone, store.DeleteReady
	}, [5]int{0, 0, 0, 1, 0})
	gone := rs[0]
	gone.FileDeleteState = store.DeleteReady
	Update(t, s, func(tx *store.Tx) error { return tx.SaveResult(rs[0], gone) })
	if got, want := lens(T0), [5]int{0, 0, 0, 1, 1}; got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	Update(t, s, func(tx *store.Tx) error { return tx.TransitionBy(wu.ID, T0.Add(time.Hour)) })
	Update(t, s, func(tx *store.Tx) error { return tx.TransitionBy(wu.ID, T0.Add(2*time.Hour)) })
	if got := Get(t, s, (*store.View).Workunit, wu.ID); !got.TransitionTime.Equal(T0.Add(time.Hour)) {
		t.Errorf("transition time %v, want the earlier of two", got.TransitionTime)
	}
	waiting := func(now, to time.Time) (n int) {
		Update(t, s, func(tx *store.Tx) (err error) {
			n, err = tx.TransitionWaiting(now, to, 10)
			return err
		})
		return n
	}
	if early, late, done := waiting(T0, T0.Add(time.Minute)), waiting(T0, T0.Add(time.Hour)), waiting(T0, T0.Add(time.Hour)); early != 0 || late != 1 || done != 0 {
		t.Errorf("made due: %d, %d and %d", early, late, done)
	}
	if got := lens(T0)[0]; got != 1 {
		t.Errorf("due: %d", got)
	}
}

// clock keeps one state for each shard.
func clock(t *testing.T, s *store.Store) {
	check := func(s *store.Store, want store.Clock) {
		t.Helper()
		if got := Look(t, s, (*store.View).Clock); !got.Seen.Equal(want.Seen) || !got.From.Equal(want.From) || !got.Until.Equal(want.Until) {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
	for _, want := range []store.Clock{{}, {Seen: T0}, {Seen: T0.Add(time.Hour), From: T0, Until: T0.Add(2 * time.Hour)}, {Seen: T0.Add(3 * time.Hour)}} {
		if want != (store.Clock{}) {
			Update(t, s, func(tx *store.Tx) error { return tx.SaveClock(want) })
		}
		check(s, want)
	}
	second, newer := s.Shard(store.Shard{Index: 1, Count: 2}), store.Clock{Seen: T0.Add(4 * time.Hour), From: T0, Until: T0.Add(5 * time.Hour)}
	check(second, store.Clock{Seen: T0.Add(3 * time.Hour)}) // until it has its own
	Update(t, second, func(tx *store.Tx) error { return tx.SaveClock(newer) })
	check(second, newer)
	check(s, store.Clock{Seen: T0.Add(3 * time.Hour)})
	w := Fill(t, s)
	wu, rs := Add(t, s, w.Workunit("ahead"), 2)
	Update(t, s, func(tx *store.Tx) error {
		list := w.sent(rs)
		list[0].SentTime, list[0].ReportDeadline = T0.Add(100*time.Hour), T0.Add(101*time.Hour)
		list[1].SentTime, list[1].ReportDeadline = T0, T0.Add(time.Hour)
		if err := tx.Send(list...); err != nil {
			return err
		}
		if err := tx.PutOffTransition(wu.ID, T0.Add(50*time.Hour)); err != nil {
			return err
		}
		return tx.Backdate(T0.Add(time.Minute), time.Minute)
	})
	for i, want := range []time.Duration{time.Minute, 0} {
		if r := Get(t, s, (*store.View).Result, rs[i].ID); !r.SentTime.Equal(T0.Add(want)) || !r.ReportDeadline.Equal(T0.Add(want+time.Hour)) {
			t.Errorf("result %d: sent %v, due %v", i, r.SentTime.Sub(T0), r.ReportDeadline.Sub(T0))
		}
	}
	if at := Get(t, s, (*store.View).Workunit, wu.ID).TransitionTime; !at.Equal(T0.Add(time.Minute)) {
		t.Errorf("looked at %v later", at.Sub(T0))
	}
}

func unsent(t *testing.T, s *store.Store) {
	w := Fill(t, s)
	for i, prio := range []int64{0, 5, 0, 5} {
		wu := w.Workunit(fmt.Sprint("w", i))
		wu.Priority = prio
		Add(t, s, wu, 1)
	}
	var got []int64
	view(t, s, func(tx *store.View) error {
		kinds, err := tx.UnsentKinds()
		if err != nil || len(kinds) != 1 {
			t.Errorf("kinds %v, want one", kinds)
			return err
		}
		for after := store.First; ; {
			list, err := tx.Unsent(kinds[0], after, 3, store.Slice{})
			if err != nil || len(list) == 0 {
				return err
			}
			for _, c := range list {
				got = append(got, c.WorkunitID)
				after = c.Place()
			}
		}
	})
	if want := []int64{2, 4, 1, 3}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// The kinds of a token that are considered have a maximum number. More of them come when those are sent.
func kindsOfTokens(t *testing.T, s *store.Store) {
	w := Fill(t, s)
	var made []store.Result
	Update(t, s, func(tx *store.Tx) error {
		made = nil
		for token, n := range []int{2, store.MostKinds + 50, store.MostKinds, 3} {
			for i := range n {
				wu := w.Workunit(fmt.Sprintf("t%d_%d", token, i))
				wu.TokenID, wu.OwnPriority = int64(token), int64(i)
				if token == 0 {
					wu.RscMemoryBound = 1e8 * float64(1+i)
				}
				id, err := InsertWorkunit(tx, wu)
				if err != nil {
					return err
				}
				r := store.Result{CreateTime: T0, WorkunitID: id, AppID: wu.AppID, Name: wu.Name + "_0", ServerState: store.Unsent, Kind: wu.Kind()}
				if r.ID, err = InsertResult(tx, r); err != nil {
					return err
				}
				made = append(made, r)
			}
		}
		return nil
	})
	want := func(some, all int) {
		t.Helper()
		view(t, s, func(tx *store.View) error {
			var kinds []int64
			err := tx.Ask(store.UnsentKinds(func(kind int64) { kinds = append(kinds, kind) }))
			every, also := tx.UnsentKinds()
			if err != nil || also != nil || len(kinds) != some || len(every) != all || !slices.IsSorted(kinds) || len(slices.Compact(kinds)) != some {
				t.Errorf("got %d of %d kinds, %v, %v; want %d of %d", len(kinds), len(every), err, also, some, all)
			}
			return nil
		})
	}
	want(2+2*store.MostKinds+3, 2+store.MostKinds+50+store.MostKinds+3)
	Update(t, s, func(tx *store.Tx) error { return tx.Send(w.sent(made[2:102])...) })
	want(2+store.MostKinds-50+store.MostKinds+3, 2+store.MostKinds-50+store.MostKinds+3)
}

func unsentFits(t *testing.T, s *store.Store) {
	w := Fill(t, s)
	add := func(name string, change func(*store.Workunit)) store.Result {
		wu := w.Workunit(name)
		wu.RscMemoryBound, wu.RscDiskBound, wu.RscBandwidthBound, wu.RscFpopsEst, wu.DelayBound = 600, 600, 600, 600, 600*time.Second
		change(&wu)
		_, rs := Add(t, s, wu, 2)
		return rs[0]
	}
	add("memory", func(wu *store.Workunit) { wu.RscMemoryBound = 609 })
	add("disk", func(wu *store.Workunit) { wu.RscDiskBound = 609 })
	add("bandwidth", func(wu *store.Workunit) { wu.RscBandwidthBound = 609 })
	add("late", func(wu *store.Workunit) { wu.RscFpopsEst = 900 })
	add("urgent", func(wu *store.Workunit) { wu.Priority = 9 })
	kept := add("kept", func(*store.Workunit) {})
	had := add("had", func(*store.Workunit) {})
	fits := add("fits", func(*store.Workunit) {})
	Update(t, s, func(tx *store.Tx) error {
		had.HostID, had.UserID, had.SentTime, had.ReportDeadline = w.Host.ID, w.User.ID, T0, T0
		if err := tx.Send(had); err != nil {
			return err
		}
		return tx.ReserveUntil(kept.WorkunitID, T0.Add(time.Second))
	})
	all := store.Fit{Memory: math.Inf(1), Disk: math.Inf(1), Bandwidth: math.Inf(1), Now: T0.Add(time.Hour)}
	for name, tt := range map[string]struct {
		change func(*store.Fit)
		want   int // of the 15 that are left
	}{
		"all":         {func(*store.Fit) {}, 15},
		"memory":      {func(f *store.Fit) { f.Memory = 600 }, 13},
		"disk":        {func(f *store.Fit) { f.Disk = 608 }, 13},
		"bandwidth":   {func(f *store.Fit) { f.Bandwidth = 600 }, 13},
		"deadline":    {func(f *store.Fit) { f.Wait, f.PerFlop = 120, 0.8 }, 13},
		"reservation": {func(f *store.Fit) { f.Now = T0 }, 13},
		"user":        {func(f *store.Fit) { f.UserID = w.User.ID }, 14},
		"host":        {func(f *store.Fit) { f.HostID = w.Host.ID }, 14},
		"another":     {func(f *store.Fit) { f.HostID = w.Host.ID + 1 }, 15},
		"urgent":      {func(f *store.Fit) { f.Below, f.BelowSince = 9, T0.Add(-time.Second) }, 13},
		"less urgent": {func(f *store.Fit) { f.Below, f.BelowSince = 10, T0.Add(-time.Second) }, 15},
		"old":         {func(f *store.Fit) { f.Below, f.BelowSince = 9, T0 }, 15},
	} {
		f := all
		tt.change(&f)
		view(t, s, func(tx *store.View) error {
			kind := w.Workunit("x")
			kind.RscMemoryBound, kind.RscDiskBound, kind.RscBandwidthBound, kind.RscFpopsEst, kind.DelayBound = 600, 609, 605, 800, 999*time.Second
			list, err := tx.UnsentFits(kind.Kind(), store.First, f, 99, store.Slice{})
			if len(list) != tt.want {
				t.Errorf("%s: %d fit, want %d", name, len(list), tt.want)
			}
			for _, x := range list {
				if x.ID == fits.ID {
					return err
				}
			}
			t.Errorf("%s: what fits is not among them", name)
			return err
		})
	}
}

// sorted checks that SortUnsent gives kinds to results that are older than kinds, and that results
// get another kind when their workunit is committed.
func sorted(t *testing.T, s *store.Store) {
	w := Fill(t, s)
	wu := w.Workunit("a")
	_, rs := Add(t, s, wu, 2)
	kinds := func() []int64 {
		return Look(t, s, (*store.View).UnsentKinds)
	}
	wu.ID = rs[0].WorkunitID
	Update(t, s, func(tx *store.Tx) error {
		for i := range 3 {
			if err := tx.AddResult(store.Result{WorkunitID: wu.ID, AppID: wu.AppID, Name: fmt.Sprint("old_", i), ServerState: store.Unsent}); err != nil {
				return err
			}
		}
		return nil
	})
	if got := kinds(); len(got) != 2 || got[0] != 0 {
		t.Errorf("kinds %v, want 0 and another", got)
	}
	for _, want := range []int{2, 1, 0} {
		Update(t, s, func(tx *store.Tx) error {
			n, err := tx.SortUnsent(2)
			if n != want {
				t.Errorf("sorted %d, want %d", n, want)
			}
			return err
		})
	}
	if got := kinds(); len(got) != 1 || got[0] != wu.Kind() {
		t.Errorf("kinds %v, want %d", got, wu.Kind())
	}
	Update(t, s, func(tx *store.Tx) error {
		return store.Change(tx.Workunit, wu.ID, tx.SaveWorkunit, func(committed *store.Workunit) {
			committed.HRClass = 7
		})
	})
	wu.HRClass = 7
	if got := kinds(); len(got) != 1 || got[0] != wu.Kind() {
		t.Errorf("after a commitment: kinds %v, want %d", got, wu.Kind())
	}
}

func jobs(t *testing.T, s *store.Store) {
	w := Fill(t, s)
	a, of := Add(t, s, w.Workunit("a"), 2)
	b, _ := Add(t, s, w.Workunit("b"), 0)
	_, others := Add(t, s, w.Workunit("c"), 1)
	view(t, s, func(tx *store.View) error {
		got, err := tx.Jobs([]int64{b.ID, a.ID, 99})
		want := map[int64]store.Job{a.ID: {Workunit: a, Results: of}, b.ID: {Workunit: b}}
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, %v\nwant %+v", got, err, want)
		}
		if got, err := tx.Jobs(nil); err != nil || len(got) != 0 {
			t.Errorf("none: got %+v, %v", got, err)
		}
		if _, err := tx.Job(99); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("one that is not there: %v", err)
		}
		results, err := tx.Results([]int64{others[0].ID, of[1].ID})
		if err != nil || len(results) != 2 || results[of[1].ID] != of[1] || results[others[0].ID] != others[0] {
			t.Errorf("got %+v, %v", results, err)
		}
		return nil
	})
}

func shared(t *testing.T, s *store.Store) {
	w := Fill(t, s)
	a, _ := Add(t, s, w.Workunit("a"), 0, "in1", "in2")
	b, _ := Add(t, s, w.Workunit("b"), 0, "in2")
	view(t, s, func(tx *store.View) error {
		got, err := tx.SharedFiles([]string{"in1", "in2", "in3"}, []int64{a.ID})
		if want := map[string]bool{"in2": true}; err != nil || !maps.Equal(got, want) {
			t.Errorf("got %v, %v; want %v", got, err, want)
		}
		if needed, err := tx.FileNeeded("in1"); err != nil || !needed {
			t.Errorf("nobody needs in1: %v", err)
		}
		if got, err := tx.SharedFiles(nil, nil); err != nil || len(got) > 0 {
			t.Errorf("of no files: %v, %v", got, err)
		}
		if got, err := tx.SharedFiles([]string{"in1", "in2"}, []int64{a.ID, b.ID}); err != nil || len(got) > 0 {
			t.Errorf("needed by others than both: %v, %v", got, err)
		}
		return nil
	})
	done := b
	done.AssimilateState, done.FileDeleteState = store.AssimilateDone, store.DeleteDone
	Update(t, s, func(tx *store.Tx) error { return SaveWorkunit(tx, b, done) })
	view(t, s, func(tx *store.View) error {
		if got, err := tx.SharedFiles([]string{"in2"}, []int64{a.ID}); err != nil || len(got) > 0 {
			t.Errorf("after the other's end: %v, %v", got, err)
		}
		return nil
	})
}

// stamps checks that changes of applications change AppsStamp, and that a new workunit does not.
func stamps(t *testing.T, s *store.Store) {
	w := Fill(t, s)
	stamp := func() int64 {
		return Look(t, s, (*store.View).AppsStamp)
	}
	seen := map[int64]bool{stamp(): true}
	app := w.App
	save := func(tx *store.Tx) error {
		return store.Change(tx.AppByName, app.Name, tx.SaveApp, func(old *store.App) { *old = app })
	}
	for what, change := range map[string]func(tx *store.Tx) error{
		"a name": func(tx *store.Tx) error {
			app.UserFriendlyName += "!"
			return save(tx)
		},
		"a weight": func(tx *store.Tx) error {
			app.Weight = 2
			return save(tx)
		},
		"an application": func(tx *store.Tx) error {
			_, err := tx.InsertApp(store.App{Name: "other", Validator: "trivial", Assimilator: "copy"})
			return err
		},
	} {
		Update(t, s, change)
		n := stamp()
		if seen[n] {
			t.Errorf("%s: the stamp %d was there before", what, n)
		}
		seen[n] = true
	}
	before := stamp()
	Add(t, s, w.Workunit("a"), 1)
	if stamp() != before {
		t.Error("a workunit changes the stamp")
	}
}
