package store

import (
	"errors"
	"time"

	"github.com/starling-grid/starling/server/db"
)

// A Clock is the durable state of a transitioner's clock. Zero times are unknown.
type Clock struct {
	Seen  time.Time `db:"seen_time"`      // of a recent pass
	From  time.Time `db:"extended_from"`  // deadlines between these are extended to the second
	Until time.Time `db:"extended_until"` // see From
}

var (
	clockColumns = db.ColumnsOf[Clock]()
	clock        = `SELECT ` + clockColumns.List() + ` FROM clock ORDER BY CASE daemon WHEN $1 THEN 0 ELSE 1 END, seen_time DESC LIMIT 1`
	saveClock    = db.Replace("clock", "daemon, seen_time, extended_from, extended_until", 1)
)

// Clock returns the state that this shard's process saved. If it saved none, because the number of processes
// has changed, Clock returns the newest state of others, or the zero value.
func (t *View) Clock() (Clock, error) {
	c, err := one(t, clockColumns.Scan, clock, t.shard.daemon("transitioner"))
	if errors.Is(err, ErrNotFound) {
		return Clock{}, nil
	}
	return c, err
}

// SaveClock replaces the saved state.
func (t *Tx) SaveClock(c Clock) error {
	return t.run(saveClock, t.shard.daemon("transitioner"), unix(c.Seen), unix(c.From), unix(c.Until))
}

var (
	lookAtSent = db.Change(`
UPDATE workunit SET transition_time = $1
WHERE  transition_time > $1 AND id IN (SELECT workunitid FROM result WHERE server_state = 4 AND sent_time > $2)`)
	backdate = db.Change(`
UPDATE result SET report_deadline = report_deadline - (sent_time - $1), sent_time = $1 WHERE server_state = 4 AND sent_time > $2`)
)

// Backdate makes the results in progress that were sent more than slack after now, by a clock that was ahead, sent now,
// with the same time until their deadlines. The transitioner looks at their workunits.
func (t *Tx) Backdate(now time.Time, slack time.Duration) error {
	if err := t.run(lookAtSent, unix(now), unix(now.Add(slack))); err != nil {
		return err
	}
	return t.run(backdate, unix(now), unix(now.Add(slack)))
}
