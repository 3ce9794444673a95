package db

import (
	"path/filepath"
	"testing"
	"testing/fstest"
)

// testSchema has accounts, to which amounts are added.
var testSchema = Schema{
	Migrations: fstest.MapFS{"migrations/001_account.sql": {Data: []byte(`
CREATE TABLE account (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    name    TEXT    NOT NULL UNIQUE,
    balance INTEGER NOT NULL DEFAULT 0,
    seen    INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE installed (sql TEXT NOT NULL) STRICT;
CREATE TABLE mark (identity TEXT NOT NULL) STRICT;
`)}},
	SQLiteTriggers:   func() []string { return nil },
	PostgresTriggers: func() []string { return nil },
	TriggerTable:     "installed",
	Identity:         `SELECT COALESCE((SELECT identity FROM mark), '')`,
	IdentityTable:    "mark",
}

type account struct {
	ID      int64 `db:"id"`
	Balance int64 `db:"balance"`
	Seen    int64 `db:"seen"`
}

var accountColumns = ColumnsOf[account]()

const accountByID = `SELECT id, balance, seen FROM account WHERE id = $1`

var (
	addAccount = Insert("account", "name")
	// payIf adds to a balance, which must be as expected, and sets seen.
	payIf = Update("account", "balance = balance + $2, seen = $3", "balance = $4")
)

func accountOf(v *View, id int64) (account, error) {
	return One(v, accountColumns.Scan, accountByID, id)
}

// open opens a database with testSchema. where is "" for a new file.
func open(t *testing.T, where string) *DB {
	t.Helper()
	if where == "" {
		where = filepath.Join(t.TempDir(), "test.db")
	}
	d, err := Open(t.Context(), where, testSchema)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d
}
