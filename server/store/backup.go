package store

import (
	"context"

	"github.com/starling-grid/starling/server/db"
)

// A Census has the number of rows of each table of a database, and a sum of their contents.
type Census = db.Census

// TakeCensus returns the census of a database of this program's version. where is as for Open.
// It sees one state of the database, even while servers use it.
func TakeCensus(ctx context.Context, where string) (Census, error) {
	return db.TakeCensus(ctx, where, schema)
}

// Snapshot writes one state of a database into an SQLite file that does not exist, or
// is empty, and returns its census. The database, which is of this program's version,
// may be in use at the same time.
func Snapshot(ctx context.Context, from, path string) (Census, error) {
	return db.Snapshot(ctx, from, path, schema)
}

// Copy copies one state of a database into another database, and returns its census. Both are as
// for Open. from has this program's version and may be in use. to is a database without rows, or a
// file that does not exist. Copy reads the copy again and compares it. After an error, to is left
// without rows.
func Copy(ctx context.Context, from, to string) (Census, error) {
	return db.Copy(ctx, from, to, schema)
}

const (
	firstNumbers = `
INSERT INTO sqlite_sequence (name, seq)
SELECT name, 0 FROM sqlite_master
WHERE  type = 'table' AND name IN ('host', 'api_batch') AND name NOT IN (SELECT name FROM sqlite_sequence)`
	skipNumbers = `UPDATE sqlite_sequence SET seq = seq + max(1000, seq / 10) WHERE name IN ('host', 'api_batch')`
)

// SkipNumbers leaves out the next numbers of computers and batches in an SQLite database: a tenth as
// many as were given, and at least 1,000. After a database was copied, the original may have given
// these. Computers keep their number, and the names of tasks contain their batch's.
func (s *Store) SkipNumbers(ctx context.Context) error {
	return s.Update(ctx, func(tx *Tx) error {
		if _, err := tx.exec(firstNumbers); err != nil {
			return err
		}
		_, err := tx.exec(skipNumbers)
		return err
	})
}
