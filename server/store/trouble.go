package store

import (
	"time"

	"github.com/starling-grid/starling/server/db"
)

// A Trouble is the work of an application that a daemon could not handle and tries again.
type Trouble struct {
	Daemon  string // its name, from Store.Daemon
	AppID   int64
	Waiting int64 // pieces of it
	Error   string
	Retry   time.Time // when the first of them is tried again
}

var (
	troubleColumns = db.Columns[Trouble]{
		{"daemon", func(t *Trouble) any { return &t.Daemon }},
		{"appid", func(t *Trouble) any { return &t.AppID }},
		{"waiting", func(t *Trouble) any { return &t.Waiting }},
		{"error", func(t *Trouble) any { return &t.Error }},
		{"retry_time", func(t *Trouble) any { return (*unix)(&t.Retry) }},
	}
	troubles    = `SELECT ` + troubleColumns.List() + ` FROM trouble ORDER BY appid, daemon`
	setTrouble  = db.Replace("trouble", troubleColumns.List(), 2)
	pastTrouble = db.Change(`DELETE FROM trouble WHERE daemon = $1 AND appid = $2`)
)

// Troubles returns the troubles of all daemons.
func (t *View) Troubles() ([]Trouble, error) { return all(t, troubleColumns.Scan, troubles) }

// SetTrouble replaces the trouble of a daemon with an application. If nothing waits, it is over.
func (t *Tx) SetTrouble(x Trouble) error {
	if x.Waiting == 0 {
		return t.run(pastTrouble, x.Daemon, x.AppID)
	}
	return t.run(setTrouble, x.Daemon, x.AppID, x.Waiting, x.Error, unix(x.Retry))
}
