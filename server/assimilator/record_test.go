package assimilator_test

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"testing"

	"github.com/starling-grid/starling/server/assimilator"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/store/storetest"
	"github.com/starling-grid/starling/server/transitioner"
)

// counting counts the calls for each workunit.
type counting struct {
	mu    sync.Mutex
	times map[string]int
}

func (c *counting) Assimilate(_ context.Context, wu store.Workunit, _ []store.Result, _ *store.Result) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.times[wu.Name]++
	return nil
}

func (c *counting) Flush() error { return nil }

// A batch that was taken is recorded, though the one before it could not be: that one
// alone is handed over again.
func TestRecordingFails(t *testing.T) {
	path := filepath.Join(t.TempDir(), "project.db")
	st, err := store.Open(t.Context(), path)
	must(t, err)
	defer st.Close()
	w := storetest.Fill(t, st)
	const n = 150 // more than a batch
	for i := range n {
		wu, _ := storetest.Add(t, st, w.Workunit(fmt.Sprint("wu", i)), 0)
		storetest.Update(t, st, func(tx *store.Tx) error {
			after := wu
			after.AssimilateState, after.ErrorMask = store.AssimilateReady, store.ErrorTooManyErrors
			return tx.SaveWorkunit(wu, after)
		})
	}
	db, err := sql.Open("sqlite", path)
	must(t, err)
	defer db.Close()
	exec := func(q string) {
		t.Helper()
		if _, err := db.ExecContext(t.Context(), q); err != nil {
			t.Fatal(err)
		}
	}
	c := &counting{times: make(map[string]int)}
	a := &assimilator.Assimilator{
		Taken: new(transitioner.Transitioner).Taken,
		Store: st, Log: slog.New(slog.DiscardHandler), Handler: func(context.Context, int64) (assimilator.Handler, error) { return c, nil },
	}
	exec(`CREATE TRIGGER broken BEFORE UPDATE ON workunit WHEN NEW.name = 'wu5' BEGIN SELECT RAISE(ABORT, 'on purpose'); END`)
	if _, err := a.Pass(t.Context(), storetest.T0); err == nil {
		t.Error("a recording that failed went unnoticed")
	}
	exec(`DROP TRIGGER broken`)
	if _, err := a.Pass(t.Context(), storetest.T0); err != nil {
		t.Fatal(err)
	}
	if c.times["wu5"] != 2 || c.times["wu149"] != 1 {
		t.Errorf("handed over: wu5 %d times, want 2; wu149 %d times, want 1", c.times["wu5"], c.times["wu149"])
	}
	if got, err := a.Pass(t.Context(), storetest.T0); got != 0 || err != nil {
		t.Errorf("%d are left, %v", got, err)
	}
}
