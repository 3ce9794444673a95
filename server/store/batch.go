package store

import "fmt"

const workunitsOfBatch = `SELECT id FROM workunit WHERE batch = $1 AND batch <> 0 AND id > $2 ORDER BY id LIMIT 0 + $3`

// WorkunitsOfBatch returns workunits of a batch with ids above after. 0 is no
// batch.
func (t *Tx) WorkunitsOfBatch(batch, after int64, limit int) ([]int64, error) {
	return all(t, scanID, workunitsOfBatch, batch, after, limit)
}

const givenUp = `
SELECT id FROM workunit
WHERE  error_mask <> 0 AND (error_mask & $1) <> 0 AND (appid = $2 OR $2 = 0) AND (batch = $3 OR $3 = 0) AND id > $4
ORDER  BY id LIMIT 0 + $5`

// GivenUp returns workunits with ids above after that were given up for one of the reasons
// in mask, of an application and a batch, each 0 for any.
func (t *Tx) GivenUp(mask ErrorMask, appID, batch, after int64, limit int) ([]int64, error) {
	return all(t, scanID, givenUp, mask, appID, batch, after, limit)
}

// A BatchStatus says how far the workunits of a batch have come.
type BatchStatus struct {
	Batch      int64            `json:"batch"`
	Total      int64            `json:"total"`
	Unfinished int64            `json:"unfinished"` // no canonical result and not given up
	Canonical  int64            `json:"canonical"`
	Error      int64            `json:"error"`
	Assimilate int64            `json:"assimilated"`
	Results    map[string]int64 `json:"results"` // by server state
	Credit     float64          `json:"credit"`  // of the canonical results
}

const batchStatus = `
SELECT batch, count(*),
       count(*) FILTER (WHERE canonical_resultid = 0 AND error_mask = 0),
       count(*) FILTER (WHERE canonical_resultid <> 0),
       count(*) FILTER (WHERE error_mask <> 0),
       count(*) FILTER (WHERE assimilate_state = 2),
       sum(canonical_credit)
FROM   workunit WHERE batch = $1 AND batch <> 0 GROUP BY batch`

const batchResults = `
SELECT r.server_state, count(*) FROM workunit w JOIN result r ON r.workunitid = w.id
WHERE  w.batch = $1 AND w.batch <> 0 GROUP BY r.server_state`

// BatchStatus counts what is in a batch, or returns ErrNotFound if there is no
// workunit of it.
func (t *Tx) BatchStatus(batch int64) (BatchStatus, error) {
	s, err := one(t, func(r row) (s BatchStatus, err error) {
		return s, r.Scan(&s.Batch, &s.Total, &s.Unfinished, &s.Canonical, &s.Error, &s.Assimilate, &s.Credit)
	}, batchStatus, batch)
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
