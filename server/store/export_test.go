package store

import (
	"context"
	"database/sql"

	"github.com/pressly/goose/v3"
)

// MigrateTo makes a database as a server had it whose last migration was the one of
// that number.
func MigrateTo(ctx context.Context, dialect goose.Dialect, db *sql.DB, number int64) error {
	translate := asWritten
	if dialect == goose.DialectPostgres {
		translate = translation.Replace
	}
	list, err := migrationList(translate)
	if err != nil {
		return err
	}
	p, err := goose.NewProvider(dialect, db, nil, goose.WithGoMigrations(list...))
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
