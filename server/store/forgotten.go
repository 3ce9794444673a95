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
	Kind       int // ForgottenUser or ForgottenHost
	ID         int64
	CPID       string // its identifier at sites of statistics
	CreateTime time.Time
}

var (
	forget    = db.InsertIfMissing("forgotten", "kind, id, cpid, create_time")
	forgotten = `SELECT kind, id, cpid, create_time FROM forgotten WHERE kind = $1 AND create_time >= $2 ORDER BY id`
)

// Forget notes that sites of statistics have to forget an account or a computer. Once is enough.
func (t *Tx) Forget(f Forgotten) error {
	return t.run(forget, f.Kind, f.ID, f.CPID, unix(f.CreateTime))
}

// Forgotten returns the accounts or computers, by kind, that were deleted since a time.
func (t *View) Forgotten(kind int, since time.Time) ([]Forgotten, error) {
	return all(t, func(r row) (f Forgotten, err error) {
		return f, r.Scan(&f.Kind, &f.ID, &f.CPID, (*unix)(&f.CreateTime))
	}, forgotten, kind, unix(since))
}
