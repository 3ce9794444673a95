package store

import "github.com/starling-grid/starling/server/db"

// A RecentResult has the times and states of a result.
type RecentResult struct {
	HostID        int64         `db:"hostid"`
	Created       int64         `db:"create_time"`   // Unix time
	Sent          int64         `db:"sent_time"`     // Unix time (0: not yet)
	Received      int64         `db:"received_time"` // likewise
	ServerState   ServerState   `db:"server_state"`
	Outcome       Outcome       `db:"outcome"`
	ValidateState ValidateState `db:"validate_state"`
}

var recentColumns = db.ColumnsOf[RecentResult]()

var recentResults = `
SELECT ` + recentColumns.List() + `
FROM   result WHERE id > (SELECT COALESCE(max(id), 0) FROM result) - $1`

// RecentResults calls each for the last n results that were made, except purged ones, in no order.
// Its cost depends on n alone.
func (t *View) RecentResults(n int64, each func(RecentResult)) error {
	return t.Ask(db.NewQuestion(recentColumns.Scan, each, recentResults, n))
}
