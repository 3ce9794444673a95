package store

import (
	"context"
	"database/sql"
	"io/fs"

	"github.com/pressly/goose/v3"
)

// MigrateTo makes a database as a server had it whose last migration was the one of
// that number.
func MigrateTo(ctx context.Context, dialect goose.Dialect, db *sql.DB, number int64) error {
	files := fs.FS(migrations)
	if dialect == goose.DialectPostgres {
		files = translated{migrations}
	}
	sub, err := fs.Sub(files, "migrations")
	if err != nil {
		return err
	}
	p, err := goose.NewProvider(dialect, db, sub)
	if err != nil {
		return err
	}
	_, err = p.UpTo(ctx, number)
	return err
}

// Exec runs any SQL within a transaction.
func Exec(tx *Tx, query string) error {
	_, err := tx.exec(query)
	return err
}
