package pass_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/starling-grid/starling/server/pass"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/store/storetest"
)

func open(t *testing.T) (*store.Store, storetest.World) {
	t.Helper()
	st := storetest.Open(t, "")
	return st, storetest.Fill(t, st)
}

// Each pending row is seen once, in batches, even if it does not change. Rows that are put off are
// left out.
func TestEach(t *testing.T) {
	st, w := open(t)
	const want = 2*pass.Batch + 7
	for i := range want + 1 {
		storetest.Add(t, st, w.Workunit(fmt.Sprint("wu", i)), 0)
	}
	var off pass.Off
	off.Failed(5, 1, errors.New("no"), storetest.T0, time.Minute, time.Hour)
	var seen []int64
	n, err := pass.Each(t.Context(), st, func(tx *store.View, after int64) ([]store.Job, int64, error) {
		return pass.Jobs(tx, store.NeedInputs, after, &off, storetest.T0)
	}, func(jobs []store.Job) (int, error) {
		for _, j := range jobs {
			seen = append(seen, j.Workunit.ID)
		}
		return len(jobs), nil
	})
	if err != nil || n != want || len(seen) != want || slices.Contains(seen, 5) || !slices.IsSorted(seen) || len(slices.Compact(seen)) != want {
		t.Errorf("got %d, %v; seen %v", n, err, seen)
	}
	trouble := errors.New("trouble")
	n, err = pass.Each(t.Context(), st, func(tx *store.View, after int64) ([]store.Job, int64, error) {
		return pass.Jobs(tx, store.NeedInputs, after, &off, storetest.T0)
	}, func(jobs []store.Job) (int, error) { return 3, trouble })
	if n != 3 || !errors.Is(err, trouble) {
		t.Errorf("got %d, %v", n, err)
	}
}

// One item that fails does not delay the others, and is reported once.
func TestSave(t *testing.T) {
	st, w := open(t)
	credit := func(tx *store.Tx, items []float64) error {
		for _, x := range items {
			if x < 0 {
				return errors.New("negative")
			}
			if err := tx.AddUserCredit(w.User.ID, x, 0, storetest.T0); err != nil {
				return err
			}
		}
		return nil
	}
	sum := func() float64 {
		return storetest.Get(t, st, (*store.View).User, w.User.ID).TotalCredit
	}
	var failed []float64
	tell := func(x float64, _ error) error {
		failed = append(failed, x)
		return nil
	}
	if n, err := pass.Save(t.Context(), st, []float64{1, -1, 2, -2, 4}, credit, tell); n != 3 || err != nil || sum() != 7 || !slices.Equal(failed, []float64{-1, -2}) {
		t.Errorf("got %d, %v; sum %v, failed %v", n, err, sum(), failed)
	}
	stop := errors.New("stop")
	if n, err := pass.Save(t.Context(), st, []float64{8, -1, 16}, credit, func(float64, error) error { return stop }); n != 1 || !errors.Is(err, stop) || sum() != 15 {
		t.Errorf("got %d, %v; sum %v", n, err, sum())
	}
	failed = nil
	for _, tt := range []struct {
		err   error
		saved int // of three, where the second fails
		ends  bool
	}{
		{store.ErrUnreachable, 1, true},
		{store.ErrFull, 1, true},
		{store.ErrUnwritten, 1, true},
		{store.ErrDisk, 1, true},
		{store.ErrBusy, 2, false},
	} {
		save := func(_ *store.Tx, items []float64) error {
			if len(items) > 1 {
				return errors.New("one of them fails")
			}
			if items[0] == 2 {
				return fmt.Errorf("the second: %w", tt.err)
			}
			return nil
		}
		n, err := pass.Save(t.Context(), st, []float64{1, 2, 3}, save, tell)
		if n != tt.saved || errors.Is(err, tt.err) != tt.ends || len(failed) > 0 {
			t.Errorf("%v: stored %d, %v, blamed %v", tt.err, n, err, failed)
		}
		if n, err := pass.Save(t.Context(), st, []float64{1}, func(*store.Tx, []float64) error { return tt.err }, tell); n != 0 || errors.Is(err, tt.err) != tt.ends {
			t.Errorf("%v at once: stored %d, %v", tt.err, n, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if n, err := pass.Save(ctx, st, []float64{1}, credit, tell); n != 0 || err == nil || len(failed) != 0 {
		t.Errorf("at the end: got %d, %v, failed %v", n, err, failed)
	}
}

func TestOff(t *testing.T) {
	var o pass.Off
	now := storetest.T0
	if !o.Due(1, now) {
		t.Error("put off from the beginning")
	}
	for _, want := range []time.Duration{time.Minute, 2 * time.Minute, 3 * time.Minute, 3 * time.Minute} {
		if got := o.Failed(1, 1, errors.New("no"), now, time.Minute, 3*time.Minute); got != want {
			t.Errorf("got %v, want %v", got, want)
		}
		if o.Due(1, now.Add(want-1)) || !o.Due(1, now.Add(want)) {
			t.Errorf("not put off for %v", want)
		}
	}
	o.Done(1, 1)
	if got := o.Failed(1, 1, errors.New("no"), now, time.Minute, 3*time.Minute); got != time.Minute {
		t.Errorf("anew: got %v", got)
	}
}

// Work that is put off is recorded by application, with the last error, until it is done or gone. After a
// restart it stays recorded until the program has handled some work.
func TestTroubles(t *testing.T) {
	st, w := open(t)
	var off, other pass.Off
	var troubles pass.Troubles
	app, now := w.App.ID, storetest.T0
	look := func(what string, at time.Time, want ...string) {
		t.Helper()
		if err := troubles.Save(t.Context(), st, "validator", at, &off, &other); err != nil {
			t.Fatal(err)
		}
		var got []string
		all, err := store.Read(t.Context(), st, func(tx *store.View) ([]store.Violation, error) { return pass.Advise(tx, at) })
		for _, v := range all {
			got = append(got, v.Rows...)
			if !v.Advice || v.Mend == "" {
				t.Errorf("%s: %+v", what, v)
			}
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: got %q, %v", what, got, err)
		}
	}
	restart := func() { off, other, troubles = pass.Off{}, pass.Off{}, pass.Troubles{} }
	look("all is well", now)
	off.Failed(1, app, errors.New("exit status 1"), now, time.Minute, time.Hour)
	look("one", now, "the validator could not handle 1 workunit of upper; the last error is: exit status 1")
	now = now.Add(time.Minute)
	other.Failed(2, app, errors.New("exit status 2"), now, time.Minute, time.Hour)
	two := "the validator could not handle 2 workunits of upper; the last error is: exit status 2"
	look("two", now, two)
	restart()
	look("a restart", now, two)
	off.Done(3, app)
	look("the program works again", now)
	off.Failed(1, app, errors.New("exit status 3"), now, time.Minute, time.Hour)
	look("again", now, "the validator could not handle 1 workunit of upper; the last error is: exit status 3")
	now = now.Add(time.Hour)
	if err := troubles.Soon(t.Context(), st, "validator", now, &off); err != nil { // a pass took an hour so far
		t.Fatal(err)
	}
	current, err := store.Read(t.Context(), st, func(tx *store.View) ([]store.Trouble, error) { return pass.Current(tx, now) })
	if err != nil || len(current) != 1 {
		t.Errorf("not tried again yet: got %+v, %v", current, err)
	}
	look("it has gone", now)
	off.Failed(1, app, errors.New("exit status 4"), now, time.Minute, time.Hour)
	look("the last time", now, "the validator could not handle 1 workunit of upper; the last error is: exit status 4")
	restart()
	now = now.Add(time.Hour)
	look("it has gone after a restart", now)
	if list, err := store.Read(t.Context(), st, (*store.View).Troubles); err != nil || len(list) != 0 {
		t.Errorf("left are %+v, %v", list, err)
	}
}

// Work of a mended program is due in the next pass, and a pass that is under way meanwhile does not undo the wish.
func TestAsk(t *testing.T) {
	st, w := open(t)
	var off, hung pass.Off
	var troubles pass.Troubles
	app, other, now := w.App.ID, w.App.ID+1, storetest.T0
	failed := errors.New("exit status 1")
	save := func() {
		t.Helper()
		if err := troubles.Save(t.Context(), st, "assimilator", now, &off); err != nil {
			t.Fatal(err)
		}
	}
	answer := func(want bool, ids ...int64) {
		t.Helper()
		if err := troubles.Answer(t.Context(), st, "assimilator", &off, &hung); err != nil {
			t.Fatal(err)
		}
		for _, id := range ids {
			if off.Due(id, now) != want {
				t.Errorf("%d is due: %t", id, !want)
			}
		}
	}
	ask := func() {
		t.Helper()
		if err := st.Update(t.Context(), func(tx *store.Tx) error { return pass.Ask(tx, app, now) }); err != nil {
			t.Fatal(err)
		}
	}
	answer(true, 1)
	off.Failed(1, app, failed, now, time.Minute, time.Hour)
	off.Failed(2, app, failed, now, time.Hour, time.Hour)
	off.Failed(3, other, failed, now, time.Hour, time.Hour)
	hung.Failed(app, app, failed, now, time.Minute, time.Minute)
	save()
	answer(false, 1, 2, 3)
	now = now.Add(time.Minute) // the first is due
	ask()
	off.Failed(1, app, failed, now, time.Minute, time.Hour)
	save() // of the pass that was under way
	answer(true, 1, 2)
	answer(false, 3)
	if !hung.Due(app, now) {
		t.Error("its program still counts as hanging")
	}
	off.Failed(1, app, failed, now, time.Minute, time.Hour)
	save()
	answer(false, 1)
	ask()
	answer(true, 1)
}

// The next item is made while the present one is handled, and nothing is made after the loop.
func TestAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		trouble := errors.New("trouble")
		made := 0
		items := func(yield func(int, error) bool) {
			for made < 5 {
				made++
				if made == 5 {
					yield(0, trouble)
				} else if !yield(made, nil) {
					return
				}
			}
		}
		handled := 0
		for n, err := range pass.Ahead(items) {
			synctest.Wait()
			switch {
			case err != nil:
				if !errors.Is(err, trouble) || n != 0 || handled != 4 {
					t.Errorf("got %d, %v after %d", n, err, handled)
				}
			case n != handled+1 || made != n+1:
				t.Errorf("got %d after %d, and %d are made", n, handled, made)
			default:
				handled = n
			}
		}
		made, handled = 0, 0
		for _, err := range pass.Ahead(items) {
			synctest.Wait()
			if handled++; err != nil || handled == 2 {
				break
			}
		}
		if handled != 2 || made != 3 {
			t.Errorf("handled %d, made %d", handled, made)
		}
	})
}
