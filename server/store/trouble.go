package store

import (
	"time"

	"github.com/starling-grid/starling/server/db"
)

// A Trouble is the work of an application that a daemon could not handle and tries again.
type Trouble struct {
	Daemon  string    `db:"daemon"` // its name, from Store.Daemon
	AppID   int64     `db:"appid"`
	Waiting int64     `db:"waiting"` // pieces of it
	Error   string    `db:"error"`
	Retry   time.Time `db:"retry_time"` // when the first of them is tried again
}

var (
	troubleColumns = db.ColumnsOf[Trouble]()
	troubles       = `SELECT ` + troubleColumns.List() + ` FROM trouble ORDER BY appid, daemon`
	setTrouble     = db.Replace("trouble", troubleColumns.List(), 2)
	pastTrouble    = db.Change(`DELETE FROM trouble WHERE daemon = $1 AND appid = $2`)
)

// Troubles returns the troubles of all daemons.
func (t *View) Troubles() ([]Trouble, error) { return all(t, troubleColumns.Scan, troubles) }

// SetTrouble replaces the trouble of a daemon with an application. If nothing waits, it is over.
func (t *Tx) SetTrouble(x Trouble) error {
	if x.Waiting == 0 {
		return t.run(pastTrouble, x.Daemon, x.AppID)
	}
	return t.run(setTrouble, troubleColumns.Values(&x)...)
}
