package server_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/starling-grid/starling/server"
	"github.com/starling-grid/starling/server/store"
)

// Processes that answer requests on one PostgreSQL know of each other while they run; one
// whose operator said its part, or that answers none, does not take part.
func TestFrontsKnowOfEachOther(t *testing.T) {
	t.Parallel()
	onPostgres(t)
	w := newWorld(t)
	// fronts is how many there are, as one more would be told.
	fronts := func() (n int64) {
		t.Helper()
		w.must(w.p.Store.Update(t.Context(), func(tx *store.Tx) error {
			s, err := tx.Attend("test", time.Now(), time.Now().Add(-time.Hour))
			n = s.Count - 1
			return err
		}))
		return n
	}
	await := func(want int64) {
		t.Helper()
		for fronts() != want {
			time.Sleep(20 * time.Millisecond)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for _, part := range []server.Part{
		{Roles: []string{"scheduler"}},
		{Roles: []string{"web", "scheduler"}},
		{Roles: []string{"scheduler"}, Shard: store.Shard{Index: 1, Count: 3}},
		{Roles: []string{"web", "upload"}},
	} {
		wg.Go(func() {
			if err := server.New(w.p, part).Serve(ctx, nil); err != nil {
				t.Errorf("%+v: %v", part, err)
			}
		})
	}
	await(2)
	for range 10 { // the others, had they taken part, would have come by now
		time.Sleep(20 * time.Millisecond)
		if n := fronts(); n != 2 {
			t.Fatalf("%d processes share the work, want 2", n)
		}
	}
	stop()
	wg.Wait()
	await(0)
}
