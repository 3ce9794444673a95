package assimilator_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/starling-grid/starling/server/assimilator"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/store/storetest"
	"github.com/starling-grid/starling/server/transitioner"
)

// A workunit whose place is taken keeps no others from theirs.
func TestAPlaceThatIsTaken(t *testing.T) {
	st := storetest.Open(t, t.TempDir())
	w := storetest.Fill(t, st)
	const n = 5
	for i := range n {
		wu, _ := storetest.Add(t, st, w.Workunit(fmt.Sprint("wu", i)), 0)
		storetest.Update(t, st, func(tx *store.Tx) error {
			after := wu
			after.AssimilateState, after.ErrorMask = store.AssimilateReady, store.ErrorTooManyErrors
			return tx.SaveWorkunit(wu, after)
		})
	}
	dir := t.TempDir()
	must(t, os.MkdirAll(filepath.Join(dir, "wu1", "notes"), 0o750))
	c := &assimilator.Copy{Dir: dir, App: "upper"}
	a := &assimilator.Assimilator{
		Taken: new(transitioner.Transitioner).Taken,
		Store: st, Log: slog.New(slog.DiscardHandler),
		Handler: func(context.Context, int64) (assimilator.Handler, error) { return c, nil },
	}
	now, taken := storetest.T0, 0
	for range 20 {
		n, err := a.Pass(t.Context(), now)
		must(t, err)
		taken, now = taken+n, now.Add(7*time.Hour)
	}
	if taken != n-1 {
		t.Errorf("%d of %d outcomes were taken in 6 days, and one cannot be", taken, n)
	}
	if _, err := os.Stat(filepath.Join(dir, "wu1", "notes")); err != nil {
		t.Error(err)
	}
}
