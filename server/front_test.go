package server_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/starling-grid/starling/internal/testwait"
	"github.com/starling-grid/starling/server"
	"github.com/starling-grid/starling/server/store"
)

// Processes that answer requests on one PostgreSQL find each other while they run. A process whose
// part the operator has set, or that answers no requests, does not take part.
func TestFrontsKnowOfEachOther(t *testing.T) {
	t.Parallel()
	onPostgres(t)
	w := newWorld(t)
	// fronts returns the number of fronts that one more would find.
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
		testwait.Try(t, t.Context(), "processes to come or leave", func() error {
			if n := fronts(); n != want {
				return fmt.Errorf("%d processes share the work, want %d", n, want)
			}
			return nil
		})
	}
	serve := func(parts ...server.Part) (stop func()) {
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		for _, part := range parts {
			wg.Go(func() {
				if err := server.New(w.p, part).Serve(ctx, nil); err != nil {
					t.Errorf("%+v: %v", part, err)
				}
			})
		}
		return func() {
			cancel()
			wg.Wait()
		}
	}
	stopOthers := serve(server.Part{Roles: []string{"scheduler"}, Shard: store.Shard{Index: 1, Count: 3}}, server.Part{Roles: []string{"web", "upload"}})
	stop := serve(server.Part{Roles: []string{"scheduler"}}, server.Part{Roles: []string{"web", "scheduler"}})
	await(2)
	stop()
	await(0) // the others, had they taken part, would have come before and be here still
	stopOthers()
}
