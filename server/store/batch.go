package store

import (
	"fmt"
	"time"

	"github.com/starling-grid/starling/server/db"
)

const workunitsOfBatch = `SELECT id FROM workunit WHERE batch = $1 AND batch <> 0 AND id > $2 ORDER BY id LIMIT 0 + $3`

// WorkunitsOfBatch returns workunits of a batch with ids above after. The number 0 means that a
// workunit is not in a batch.
func (t *View) WorkunitsOfBatch(batch, after int64, limit int) ([]int64, error) {
	return all(t, scanID, workunitsOfBatch, batch, after, limit)
}

// Queries for a batch's unfinished workunits, and for the number of these and of all, up to a
// limit. Each repeats the condition of its index.
var (
	unfinishedOfBatch = `SELECT id FROM workunit WHERE batch = +$1 AND batch <> 0 AND canonical_resultid = 0 AND error_mask = 0`
	countUnfinished   = `SELECT count(*) FROM (` + unfinishedOfBatch + ` LIMIT 0 + $2) t`
	countOfBatch      = `SELECT count(*) FROM (SELECT 1 FROM workunit WHERE batch = +$1 AND batch <> 0 LIMIT 0 + $2) t`
	raiseBatch        = db.Change(`
UPDATE result SET priority = $2
WHERE  workunitid IN (` + unfinishedOfBatch + `) AND +server_state <= 2 AND +priority < $2`)
)

// AtBatchEnd reports whether a batch nears its end: at least one and at most most of its workunits,
// and at most one in ten, are unfinished. Purged workunits do not count. It reads at most 11 times
// most index entries.
func (t *View) AtBatchEnd(batch int64, most int) (bool, error) {
	left, err := one(t, scanID, countUnfinished, batch, int64(most)+1)
	if err != nil || left == 0 || left > int64(most) {
		return false, err
	}
	all, err := one(t, scanID, countOfBatch, batch, 10*left)
	return all == 10*left, err
}

// RaiseBatch raises the unsent results of a batch's unfinished workunits to a priority, unless
// theirs is higher. There should be few of these workunits.
func (t *Tx) RaiseBatch(batch, priority int64) error { return t.run(raiseBatch, batch, priority) }

const givenUp = `
SELECT id FROM workunit
WHERE  error_mask <> 0 AND (error_mask & $1) <> 0 AND (appid = $2 OR $2 = 0) AND (batch = $3 OR $3 = 0) AND id > $4
ORDER  BY id LIMIT 0 + $5`

// GivenUp returns workunits with ids above after that were given up for one of the reasons
// in mask, of an application and a batch, each 0 for any.
func (t *View) GivenUp(mask ErrorMask, appID, batch, after int64, limit int) ([]int64, error) {
	return all(t, scanID, givenUp, mask, appID, batch, after, limit)
}

// A BatchStatus counts the workunits of a batch by their progress.
type BatchStatus struct {
	Batch      int64            `json:"batch"`
	Name       string           `json:"name,omitempty"`  // the sender's, of a batch that was submitted with a token
	Token      string           `json:"token,omitempty"` // name of that token
	Total      int64            `json:"total"`
	Unfinished int64            `json:"unfinished"` // no canonical result and not given up
	Canonical  int64            `json:"canonical"`
	Error      int64            `json:"error"`
	Assimilate int64            `json:"assimilated"`
	Results    map[string]int64 `json:"results,omitempty"` // by server state (nil in a list)
	Credit     float64          `json:"credit"`            // of the canonical results
	CreateTime time.Time        `json:"create_time"`       // of its first workunit that was not purged
	AppID      int64            `json:"appid,omitempty"`   // 0: of several applications
}

const (
	batchCounts = `
SELECT batch, count(*),
       count(*) FILTER (WHERE canonical_resultid = 0 AND error_mask = 0),
       count(*) FILTER (WHERE canonical_resultid <> 0),
       count(*) FILTER (WHERE error_mask <> 0),
       count(*) FILTER (WHERE assimilate_state = 2),
       sum(canonical_credit), min(create_time), min(appid), max(appid),
       COALESCE((SELECT b.name FROM api_batch b WHERE b.id = workunit.batch - 1000000000), ''),
       COALESCE((SELECT t.name FROM api_batch b JOIN token t ON t.id = b.tokenid WHERE b.id = workunit.batch - 1000000000), '')
FROM   workunit WHERE batch <> 0`
	batchStatus = batchCounts + ` AND batch = $1 GROUP BY batch`
	batchList   = batchCounts + ` GROUP BY batch ORDER BY batch DESC LIMIT 0 + $1`
)

func scanBatch(r row) (s BatchStatus, err error) {
	var last int64
	err = r.Scan(&s.Batch, &s.Total, &s.Unfinished, &s.Canonical, &s.Error, &s.Assimilate, &s.Credit,
		(*unix)(&s.CreateTime), &s.AppID, &last, &s.Name, &s.Token)
	if s.AppID != last {
		s.AppID = 0
	}
	return s, err
}

// Batches returns the batches with the highest numbers, the highest first, without their Results. It reads all
// workunits of batches.
func (t *View) Batches(limit int) ([]BatchStatus, error) { return all(t, scanBatch, batchList, limit) }

const batchResults = `
SELECT r.server_state, count(*) FROM workunit w JOIN result r ON r.workunitid = w.id
WHERE  w.batch = $1 AND w.batch <> 0 GROUP BY r.server_state`

// BatchStatus counts the workunits and results of a batch. It returns ErrNotFound for a batch
// without workunits.
func (t *View) BatchStatus(batch int64) (BatchStatus, error) {
	s, err := one(t, scanBatch, batchStatus, batch)
	if err != nil {
		return s, fmt.Errorf("batch %d: %w", batch, err)
	}
	s.Results = zero(Inactive, Unsent, InProgress, Over)
	_, err = all(t, func(r row) (struct{}, error) {
		var state ServerState
		var n int64
		err := r.Scan(&state, &n)
		s.Results[state.String()] += n
		return struct{}{}, err
	}, batchResults, batch)
	return s, err
}
