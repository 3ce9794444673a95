package store

import "github.com/starling-grid/starling/server/db"

// A RecentResult has the times and states of a result.
type RecentResult struct {
	HostID                  int64
	Created, Sent, Received int64 // Unix time (0: not yet)
	ServerState             ServerState
	Outcome                 Outcome
	ValidateState           ValidateState
}

const recentResults = `
SELECT hostid, create_time, sent_time, received_time, server_state, outcome, validate_state
FROM   result WHERE id > (SELECT COALESCE(max(id), 0) FROM result) - $1`

// RecentResults calls each for the last n results that were made, except purged ones, in no order.
// Its cost depends on n alone.
func (t *View) RecentResults(n int64, each func(RecentResult)) error {
	return t.Ask(db.NewQuestion(func(r row) (x RecentResult, err error) {
		err = r.Scan(&x.HostID, &x.Created, &x.Sent, &x.Received, &x.ServerState, &x.Outcome, &x.ValidateState)
		return x, err
	}, each, recentResults, n))
}
