package trickler_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/starling-grid/starling/server/hook"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/store/storetest"
	"github.com/starling-grid/starling/server/trickler"
)

type handler struct {
	bad  string // the variety that it cannot handle
	err  error
	seen []string
}

func (h *handler) Handle(_ context.Context, m store.MsgFromHost) error {
	h.seen = append(h.seen, m.Variety)
	if m.Variety == h.bad {
		return h.err
	}
	return nil
}

// A message that cannot be handled waits longer and longer, and delays no other, except that the
// messages of its application wait for a minute if the handler hangs. Messages of an application
// without a handler wait for one.
func TestPass(t *testing.T) {
	testPass(t, errors.New("no"), []string{"a", "b", "c"}, []string{})
	testPass(t, fmt.Errorf("x: %w 5m", hook.ErrTimeout), []string{"a", "c"}, []string{"b"})
}

func testPass(t *testing.T, failure error, first, fourth []string) {
	t.Helper()
	st := storetest.Open(t, t.TempDir())
	storetest.Fill(t, st) // its application lacks a handler
	storetest.Update(t, st, func(tx *store.Tx) error {
		id, err := tx.InsertApp(store.App{Name: "talks", Validator: "trivial", Assimilator: "copy", Trickle: "exec:x"})
		other, err3 := tx.InsertApp(store.App{Name: "other", Validator: "trivial", Assimilator: "copy", Trickle: "exec:x"})
		err = errors.Join(err, err3)
		for i, variety := range []string{"a", "b", "c", "silent"} {
			m := store.MsgFromHost{HostID: 1, ResultID: int64(i), AppID: id, Variety: variety, XML: "x"}
			switch variety {
			case "silent":
				m.AppID = 1
			case "c":
				m.AppID = other
			}
			_, err2 := tx.AddMsgFromHost(m)
			err = errors.Join(err, err2)
		}
		return err
	})
	h := &handler{bad: "a", err: failure}
	tr := &trickler.Trickler{
		Store: st, Log: slog.New(slog.DiscardHandler),
		Handler: func(context.Context, int64) (trickler.Handler, error) { return h, nil },
	}
	now := storetest.T0
	pass := func(wait time.Duration, want ...string) {
		t.Helper()
		now, h.seen = now.Add(wait), nil
		if _, err := tr.Pass(t.Context(), now); err != nil || !slices.Equal(h.seen, want) {
			t.Errorf("saw %v, %v; want %v", h.seen, err, want)
		}
	}
	pass(0, first...)
	if told, err := store.Read(t.Context(), st, (*store.View).Troubles); err != nil || len(told) != 1 || told[0].Waiting != 1 || told[0].Error != failure.Error() {
		t.Errorf("the operator reads %+v, %v", told, err)
	}
	pass(59*time.Second, []string{}...)
	pass(time.Second, "a")
	pass(time.Minute, fourth...)
	h.bad = ""
	pass(time.Minute, "a")
	pass(24*time.Hour, []string{}...)
	if told, err := store.Read(t.Context(), st, (*store.View).Troubles); err != nil || len(told) != 0 {
		t.Errorf("at the end the operator reads %+v, %v", told, err)
	}
}

// The operator reads of a failure before the next message is handled.
func TestTroublesDuringAPass(t *testing.T) {
	st := storetest.Open(t, t.TempDir())
	storetest.Fill(t, st)
	storetest.Update(t, st, func(tx *store.Tx) error {
		id, err := tx.InsertApp(store.App{Name: "talks", Validator: "trivial", Assimilator: "copy", Trickle: "exec:x"})
		for i := range 2 {
			_, err2 := tx.AddMsgFromHost(store.MsgFromHost{HostID: 1, ResultID: int64(i), AppID: id, Variety: "a", XML: "x"})
			err = errors.Join(err, err2)
		}
		return err
	})
	var told []store.Trouble
	tr := &trickler.Trickler{
		Store: st, Log: slog.New(slog.DiscardHandler),
		Handler: func(ctx context.Context, _ int64) (_ trickler.Handler, err error) {
			told, err = store.Read(ctx, st, (*store.View).Troubles)
			return nil, cmp.Or(err, errors.New("no"))
		},
	}
	if _, err := tr.Pass(t.Context(), storetest.T0); err != nil || len(told) != 1 {
		t.Errorf("the operator reads %+v, %v", told, err)
	}
}
