package store

import (
	"time"

	"github.com/starling-grid/starling/server/db"
)

// Kinds of a Forgotten.
const (
	ForgottenUser = 1
	ForgottenHost = 2
)

// A Forgotten is an account or a computer that was deleted.
type Forgotten struct {
	Kind       int       `db:"kind"` // ForgottenUser or ForgottenHost
	ID         int64     `db:"id"`
	CPID       string    `db:"cpid"` // its identifier at sites of statistics
	CreateTime time.Time `db:"create_time"`
}

var (
	forgottenColumns = db.ColumnsOf[Forgotten]()

	forget    = db.InsertIfMissing("forgotten", forgottenColumns.List())
	forgotten = `SELECT ` + forgottenColumns.List() + ` FROM forgotten WHERE kind = $1 AND create_time >= $2 ORDER BY id`
)

// Forget notes that sites of statistics have to forget an account or a computer. Once is enough.
func (t *Tx) Forget(f Forgotten) error {
	return t.run(forget, forgottenColumns.Values(&f)...)
}

// Forgotten returns the accounts or computers, by kind, that were deleted since a time.
func (t *View) Forgotten(kind int, since time.Time) ([]Forgotten, error) {
	return all(t, forgottenColumns.Scan, forgotten, kind, unix(since))
}
