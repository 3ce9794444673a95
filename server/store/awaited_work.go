package store

import "time"

var (
	sendable = `
SELECT r.id FROM result r JOIN workunit w ON w.id = r.workunitid
WHERE  r.server_state = 2 AND w.reserved_until <= $1 AND ` + stillNeeded + ` LIMIT 0 + $2`
	sendableAfter = `
SELECT r.id FROM result r JOIN workunit w ON w.id = r.workunitid
WHERE  r.id > $3 AND r.server_state = 2 AND w.reserved_until <= $1 AND ` + stillNeeded + ` ORDER BY r.id LIMIT 0 + $2`
	newestResult = `SELECT COALESCE(MAX(id), 0) FROM result`
)

// Sendable returns ids of Unsent results that are not kept for a host at now, in no order.
func (t *View) Sendable(now time.Time, limit int) ([]int64, error) {
	return all(t, scanID, sendable, unix(now), limit)
}

// SendableAfter is Sendable for results with larger ids than id, in the order of these.
func (t *View) SendableAfter(now time.Time, id int64, limit int) ([]int64, error) {
	return all(t, scanID, sendableAfter, unix(now), limit, id)
}

// NewestResult returns the id of the result that was created last, or 0 without results.
func (t *View) NewestResult() (int64, error) { return one(t, scanID, newestResult) }
