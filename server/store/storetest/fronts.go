package storetest

import (
	"testing"
	"time"

	"github.com/starling-grid/starling/server/store"
)

// fronts checks that each front gets its index and their number, without fronts that left or were
// silent for too long.
func fronts(t *testing.T, s *store.Store) {
	for _, step := range []struct {
		name  string
		after time.Duration
		leave bool
		want  store.Shard
	}{
		{name: "b", want: store.Shard{Count: 1}},
		{name: "a", after: time.Second, want: store.Shard{Count: 2}},
		{name: "b", after: 5 * time.Second, want: store.Shard{Index: 1, Count: 2}},
		{name: "c", after: 9 * time.Second, want: store.Shard{Index: 2, Count: 3}},
		{name: "c", after: 11 * time.Second, want: store.Shard{Index: 1, Count: 2}}, // a was not seen for 10 s
		{name: "b", leave: true},
		{name: "c", after: 11 * time.Second, want: store.Shard{Count: 1}},
	} {
		Update(t, s, func(tx *store.Tx) error {
			if step.leave {
				return tx.Leave(step.name)
			}
			now := T0.Add(step.after)
			got, err := tx.Attend(step.name, now, now.Add(-9*time.Second))
			if got != step.want {
				t.Errorf("%s after %v: got %+v, want %+v", step.name, step.after, got, step.want)
			}
			return err
		})
	}
}
