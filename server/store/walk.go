package store

import (
	"context"
	"iter"
)

// chunk is the number of rows of a whole table that are read in a transaction.
const chunk = 1000

var (
	usersAfter = `SELECT ` + userColumns.List() + ` FROM "user" WHERE id > $1 ORDER BY id LIMIT 0 + $2`
	hostsAfter = `SELECT ` + hostColumns.List() + ` FROM host WHERE id > $1 AND userid <> 0 ORDER BY id LIMIT 0 + $2`
	teamsAfter = `SELECT ` + teamColumns.List() + ` FROM team WHERE id > $1 ORDER BY id LIMIT 0 + $2`
)

// Users returns all accounts by their ids. It reads them a part at a time, so that other
// transactions do not wait. The last value may be an error.
func (s *Store) Users(ctx context.Context) iter.Seq2[User, error] {
	return walk(ctx, s, userColumns.Scan, usersAfter, func(u User) int64 { return u.ID })
}

// Hosts is Users for hosts, without those that were merged into others.
func (s *Store) Hosts(ctx context.Context) iter.Seq2[Host, error] {
	return walk(ctx, s, hostColumns.Scan, hostsAfter, func(h Host) int64 { return h.ID })
}

// Teams is Users for teams.
func (s *Store) Teams(ctx context.Context) iter.Seq2[Team, error] {
	return walk(ctx, s, teamColumns.Scan, teamsAfter, func(t Team) int64 { return t.ID })
}

func walk[T any](ctx context.Context, s *Store, scan func(row) (T, error), query string, id func(T) int64) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		after := int64(0)
		for {
			list, err := Read(ctx, s, func(tx *View) ([]T, error) { return all(tx, scan, query, after, chunk) })
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
