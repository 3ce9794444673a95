package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/pressly/goose/v3"
)

// memory is a database that is gone with its process. It has one connection, on
// which looks wait their turn among changes.
type memory struct{ writer *writer }

// OpenMemory is Open for tests that make millions of changes: an SQLite database in
// memory, which Close ends. View must not be called within Update.
func OpenMemory(ctx context.Context) (*Store, error) {
	db, err := sql.Open("sqlite", "file::memory:?_pragma=foreign_keys(1)")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	err = migrate(ctx, goose.DialectSQLite3, db, migrations)
	if err == nil {
		err = enforce(ctx, db, []string{"BEGIN IMMEDIATE"}, sqliteTriggers())
	}
	var w *writer
	if err == nil {
		w, err = startWriter(ctx, db)
	}
	if err != nil {
		return nil, fmt.Errorf("open database in memory: %w", errors.Join(err, db.Close()))
	}
	return &Store{db: memory{w}}, nil
}

func (m memory) view(ctx context.Context, fn func(tx *Tx) error) error { return m.update(ctx, fn) }

func (m memory) update(ctx context.Context, fn func(tx *Tx) error) error {
	return m.writer.update(ctx, fn)
}

func (m memory) close() error { return m.writer.close() }
