package store

import (
	"context"

	"github.com/starling-grid/starling/server/db"
)

// A Census is a count of the rows of each table of a database, with a sum of their contents. It is the
// same for the same rows on SQLite and PostgreSQL, in whatever order they are.
type Census = db.Census

// TakeCensus counts the contents of a database of this program's version. where is as for Open.
// It sees one state of the database, even while servers use it.
func TakeCensus(ctx context.Context, where string) (Census, error) {
	return db.TakeCensus(ctx, where, schema)
}

// Snapshot writes one state of a database into a file of SQLite's that does not exist, or
// is empty, and returns what is in it. The database, which is of this program's version,
// may be in use meanwhile.
func Snapshot(ctx context.Context, from, path string) (Census, error) {
	return db.Snapshot(ctx, from, path, schema)
}

// Copy copies what a database holds, in one state of it, into another one, and returns what
// that is. Both are as for Open; from is of this program's version and may be in use, to
// has no rows, or is a file that does not exist. What Copy returns without an error was
// read again from the copy and found to be the same. After an error the copy has no rows.
func Copy(ctx context.Context, from, to string) (Census, error) {
	return db.Copy(ctx, from, to, schema)
}
