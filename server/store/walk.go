package store

import (
	"context"
	"iter"
)

// chunk is the number of rows of a whole table that are read in a transaction.
const chunk = 1000

// Users returns all accounts by their ids. It reads them a part at a time, so that other
// transactions do not wait. The last value may be an error.
func (s *Store) Users(ctx context.Context) iter.Seq2[User, error] {
	return walk(ctx, s, (*View).UsersAfter, func(u User) int64 { return u.ID })
}

// Hosts is Users for hosts, without those that were merged into others.
func (s *Store) Hosts(ctx context.Context) iter.Seq2[Host, error] {
	return walk(ctx, s, (*View).HostsAfter, func(h Host) int64 { return h.ID })
}

// Teams is Users for teams.
func (s *Store) Teams(ctx context.Context) iter.Seq2[Team, error] {
	return walk(ctx, s, (*View).TeamsAfter, func(t Team) int64 { return t.ID })
}

func walk[T any](ctx context.Context, s *Store, read func(tx *View, after int64, limit int) ([]T, error), id func(T) int64) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		after := int64(0)
		for {
			list, err := Read(ctx, s, func(tx *View) ([]T, error) { return read(tx, after, chunk) })
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, x := range list {
				if after = id(x); !yield(x, nil) {
					return
				}
			}
			if len(list) < chunk {
				return
			}
		}
	}
}
