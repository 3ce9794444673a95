package assimilator_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/starling-grid/starling/server/assimilator"
	"github.com/starling-grid/starling/server/hook"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/store/storetest"
	"github.com/starling-grid/starling/server/transitioner"
)

// meeting holds each workunit until as many as it wants are there.
type meeting struct {
	want int32
	here atomic.Int32
	all  chan struct{}
}

func (m *meeting) Assimilate(ctx context.Context, _ store.Workunit, _ []store.Result, _ *store.Result) error {
	if m.here.Add(1) == m.want {
		close(m.all)
	}
	if m.want == 0 { // no other may be there
		defer m.here.Add(-1)
		if m.here.Load() != 1 {
			return fmt.Errorf("beside another")
		}
		return nil
	}
	select {
	case <-m.all:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// While the database cannot be reached, no workunit is put off for that.
func TestNoWorkunitIsBlamedForTheDatabase(t *testing.T) {
	st := storetest.Open(t, t.TempDir())
	w := storetest.Fill(t, st)
	wu, _ := storetest.Add(t, st, w.Workunit("wu"), 0)
	storetest.Update(t, st, func(tx *store.Tx) error {
		after := wu
		after.AssimilateState, after.ErrorMask = store.AssimilateReady, store.ErrorTooManyErrors
		return tx.SaveWorkunit(wu, after)
	})
	away := fmt.Errorf("app 1: %w", store.ErrUnreachable)
	a := &assimilator.Assimilator{
		Taken: new(transitioner.Transitioner).Taken,
		Store: st, Log: slog.New(slog.DiscardHandler),
		Handler: func(context.Context, int64) (assimilator.Handler, error) { return nil, away },
	}
	if n, err := a.Pass(t.Context(), storetest.T0); n != 0 || !errors.Is(err, store.ErrUnreachable) {
		t.Errorf("handled %d, %v", n, err)
	}
	a.Handler = func(context.Context, int64) (assimilator.Handler, error) { return &meeting{}, nil }
	if n, err := a.Pass(t.Context(), storetest.T0); n != 1 || err != nil {
		t.Errorf("once it can be reached: handled %d, %v", n, err)
	}
}

// hanging hangs with the workunits of one application that are called hang.
type hanging struct{ taken []string }

func (h *hanging) Assimilate(_ context.Context, wu store.Workunit, _ []store.Result, _ *store.Result) error {
	h.taken = append(h.taken, wu.Name)
	if wu.Name == "hang" {
		return fmt.Errorf("x: %w 5m", hook.ErrTimeout)
	}
	return nil
}

// After an application's program has hung, the application's other outcomes wait for a minute, in which
// other applications have their turn.
func TestAHandlerThatHangs(t *testing.T) {
	st := storetest.Open(t, t.TempDir())
	w := storetest.Fill(t, st)
	must(t, st.Update(t.Context(), func(tx *store.Tx) error {
		other, err := tx.InsertApp(store.App{Name: "other", Validator: "trivial", Assimilator: "copy"})
		for _, name := range []string{"hang", "next", "other"} {
			wu := w.Workunit(name)
			if name == "other" {
				wu.AppID = other
			}
			id, err2 := storetest.InsertWorkunit(tx, wu)
			old, err3 := tx.Workunit(id)
			after := old
			after.AssimilateState, after.ErrorMask = store.AssimilateReady, store.ErrorTooManyErrors
			err = errors.Join(err, err2, err3, tx.SaveWorkunit(old, after))
		}
		return err
	}))
	h := new(hanging)
	a := &assimilator.Assimilator{
		Taken: new(transitioner.Transitioner).Taken,
		Store: st, Log: slog.New(slog.DiscardHandler),
		Handler: func(context.Context, int64) (assimilator.Handler, error) { return h, nil },
	}
	for minute, want := range [][]string{{"hang", "other"}, {"hang"}, {"next"}, {"hang"}} {
		h.taken = nil
		if _, err := a.Pass(t.Context(), storetest.T0.Add(time.Duration(minute)*time.Minute)); err != nil || !slices.Equal(h.taken, want) {
			t.Errorf("minute %d: taken %v, %v, want %v", minute, h.taken, err, want)
		}
		if told, err := store.Read(t.Context(), st, (*store.View).Troubles); err != nil || len(told) != 1 || told[0].AppID != w.App.ID || told[0].Waiting != 1 {
			t.Errorf("minute %d: the operator reads %+v, %v", minute, told, err)
		}
	}
}

// slow is a handler that fails after a minute. It records the troubles that the operator reads.
type slow struct {
	st   *store.Store
	told []store.Trouble
}

func (s *slow) Assimilate(ctx context.Context, _ store.Workunit, _ []store.Result, _ *store.Result) (err error) {
	<-time.After(time.Minute)
	s.told, err = store.Read(ctx, s.st, (*store.View).Troubles)
	return cmp.Or(err, errors.New("no"))
}

// The operator reads of a slow failure before the next workunit is handled.
func TestTroublesDuringAPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slow{st: storetest.Open(t, t.TempDir())}
		w := storetest.Fill(t, s.st)
		for i := range 2 {
			wu, _ := storetest.Add(t, s.st, w.Workunit(fmt.Sprint("wu", i)), 0)
			storetest.Update(t, s.st, func(tx *store.Tx) error {
				return store.Change(tx.Workunit, wu.ID, tx.SaveWorkunit, func(after *store.Workunit) {
					after.AssimilateState, after.ErrorMask = store.AssimilateReady, store.ErrorTooManyErrors
				})
			})
		}
		a := &assimilator.Assimilator{
			Taken: new(transitioner.Transitioner).Taken,
			Store: s.st, Log: slog.New(slog.DiscardHandler),
			Handler: func(context.Context, int64) (assimilator.Handler, error) { return s, nil },
		}
		if _, err := a.Pass(t.Context(), storetest.T0); err != nil || len(s.told) != 1 {
			t.Errorf("the operator reads %+v, %v", s.told, err)
		}
	})
}

// Handlers take the configured number of workunits at a time, or one by default.
func TestAtOnce(t *testing.T) {
	for _, tt := range []struct{ atOnce, meet int }{{0, 0}, {1, 0}, {3, 3}} {
		st := storetest.Open(t, t.TempDir())
		w := storetest.Fill(t, st)
		const n = 9
		for i := range n {
			wu, _ := storetest.Add(t, st, w.Workunit(fmt.Sprint("wu", i)), 0)
			storetest.Update(t, st, func(tx *store.Tx) error {
				after := wu
				after.AssimilateState, after.ErrorMask = store.AssimilateReady, store.ErrorTooManyErrors
				return tx.SaveWorkunit(wu, after)
			})
		}
		m := &meeting{want: int32(tt.meet), all: make(chan struct{})}
		a := &assimilator.Assimilator{
			Taken: new(transitioner.Transitioner).Taken,
			Store: st, Log: slog.New(slog.DiscardHandler), Settings: assimilator.Settings{AtOnce: tt.atOnce},
			Handler: func(context.Context, int64) (assimilator.Handler, error) { return m, nil },
		}
		if got, err := a.Pass(t.Context(), storetest.T0); got != n || err != nil {
			t.Errorf("%d at once: handled %d, %v", tt.atOnce, got, err)
		}
	}
}
