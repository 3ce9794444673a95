package store

import "time"

// A Queue has the ids of rows that wait, for a daemon or for a look at them. It is a query, whose
// parameters are the shard, the id that ids are above, and their number.
type Queue string

// The queues of a shard. Each query repeats the condition of its index.
const (
	// NeedValidate has workunits for the validator.
	NeedValidate Queue = `SELECT id FROM workunit WHERE need_validate = 1 AND id > $3 AND id % $1 = $2 ORDER BY id LIMIT 0 + $4`
	// ToAssimilate has workunits for the assimilator.
	ToAssimilate Queue = `SELECT id FROM workunit WHERE assimilate_state = 1 AND id > $3 AND id % $1 = $2 ORDER BY id LIMIT 0 + $4`
	// InputsToDelete has workunits whose input files may be deleted.
	InputsToDelete Queue = `SELECT id FROM workunit WHERE file_delete_state = 1 AND id > $3 AND id % $1 = $2 ORDER BY id LIMIT 0 + $4`
	// OutputsToDelete has results whose output files may be deleted. An output for which another
	// workunit waits is kept until it is passed on.
	OutputsToDelete Queue = `
SELECT id FROM result
WHERE  file_delete_state = 1 AND id > $3 AND id % $1 = $2
  AND  NOT EXISTS (SELECT 1 FROM awaited_output WHERE predecessor = result.workunitid AND ` + stillAwaited + `)
ORDER  BY id LIMIT 0 + $4`
	// NeedInputs has workunits whose input files computers may still have to fetch, at least for a
	// result in progress.
	NeedInputs Queue = `
SELECT id FROM workunit w
WHERE  id > $3 AND id % $1 = $2 AND file_delete_state = 0 AND awaiting = 0
  AND  (canonical_resultid = 0 AND error_mask = 0 OR EXISTS (SELECT 1 FROM result r WHERE r.workunitid = w.id AND r.server_state = 4))
ORDER  BY id LIMIT 0 + $4`
	// CanonicalToTake has workunits with a canonical result whose outcome was not taken yet.
	CanonicalToTake Queue = `
SELECT id FROM workunit WHERE canonical_resultid <> 0 AND assimilate_state <> 2 AND id > $3 AND id % $1 = $2 ORDER BY id LIMIT 0 + $4`

	dueWorkunits = `
SELECT id FROM workunit
WHERE  transition_time < 253402300799 AND transition_time <= $3 AND transitioner_flags <> 1 AND id % $1 = $2
ORDER  BY transition_time LIMIT 0 + $4`
)

// Waiting returns ids of a queue above after, in order.
func (t *View) Waiting(q Queue, after int64, limit int) ([]int64, error) {
	return t.queue(string(q), after, limit)
}

// Due returns workunits whose transition time has come, the earliest first.
func (t *View) Due(now time.Time, limit int) ([]int64, error) {
	return t.queue(dueWorkunits, unix(now), limit)
}

// queue runs a query for waiting ids. Its first two parameters are the shard.
func (t *View) queue(query string, args ...any) ([]int64, error) {
	return all(t, scanID, query, append(t.shard.args(), args...)...)
}
