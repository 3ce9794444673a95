package db

import (
	"context"
	"database/sql"
	"fmt"
	"sync/atomic"
)

// memory is a database that ends with its process. It has one connection, on
// which views and updates run one after the other.
type memory struct{ *writer }

// OpenMemory is Open for tests that make millions of changes: an SQLite database in
// memory, which Close ends. View must not be called within Update.
func OpenMemory(ctx context.Context, s Schema) (*DB, error) {
	name := fmt.Sprintf("file:/memory-%d?vfs=memdb", memories.Add(1))
	// It lasts as long as one connection to it.
	db, err := sql.Open("sqlite", name)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	keep, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	defer keep.Close()
	var c *conn
	if err = s.prepareSQLite(ctx, name); err == nil {
		c, err = openConn(name, "foreign_keys(1)")
	}
	if err != nil {
		return nil, fmt.Errorf("open database in memory: %w", err)
	}
	return &DB{memory{startWriter(func() (*conn, error) { return c, nil })}, s}, nil
}

// memories numbers the databases in memory.
var memories atomic.Int64

func (m memory) view(ctx context.Context, fn func(tx *Tx) error) error { return m.update(ctx, fn) }
