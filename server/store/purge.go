package store

import (
	"fmt"
	"time"

	"github.com/starling-grid/starling/server/db"
)

const purgeable = `
SELECT id FROM workunit w
WHERE  file_delete_state = 2 AND mod_time <= $3 AND id % $1 = $2 AND transition_time >= 253402300799
  AND  NOT EXISTS (SELECT 1 FROM result r WHERE r.workunitid = w.id
                   AND (r.server_state <> 5 OR r.file_delete_state IN (1, 3)))
ORDER  BY mod_time, id LIMIT 0 + $4`

// Purgeable returns finished workunits whose files were deleted at before or earlier.
func (t *View) Purgeable(before time.Time, limit int) ([]int64, error) {
	return t.queue(purgeable, unix(before), limit)
}

// A Record is all that the database holds of a workunit: rows by the names of
// their columns.
type Record struct {
	Workunit map[string]any   `json:"workunit"`
	Results  []map[string]any `json:"results"`
}

const (
	wholeWorkunit = `SELECT * FROM workunit WHERE id = $1`
	wholeResults  = `SELECT * FROM result WHERE workunitid = $1 ORDER BY id`
)

// Record returns all that is known of a workunit, or ErrNotFound.
func (t *View) Record(id int64) (rec Record, err error) {
	list, err := t.maps(wholeWorkunit, id)
	if err == nil && len(list) == 0 {
		err = ErrNotFound
	}
	if err != nil {
		return rec, fmt.Errorf("workunit %d: %w", id, err)
	}
	rec.Workunit = list[0]
	rec.Results, err = t.maps(wholeResults, id)
	return rec, err
}

// maps returns rows by the names of their columns.
func (t *View) maps(query string, args ...any) (out []map[string]any, err error) {
	out = []map[string]any{}
	err = t.db.Query(query, args, func(r rows) error {
		names, err := r.Columns()
		if err != nil {
			return err
		}
		values, into := make([]any, len(names)), make([]any, len(names))
		for i := range values {
			into[i] = &values[i]
		}
		if err := r.Scan(into...); err != nil {
			return err
		}
		m := make(map[string]any, len(names))
		for i, n := range names {
			m[n] = values[i]
		}
		out = append(out, m)
		return nil
	})
	return out, err
}

var (
	keepCredit = db.Change(`
UPDATE "user" SET purged_credit = purged_credit +
       (SELECT COALESCE(sum(r.granted_credit), 0) FROM result r WHERE r.workunitid = $1 AND r.userid = "user".id)
WHERE  id IN (SELECT r.userid FROM result r WHERE r.workunitid = $1 AND r.granted_credit > 0)`)
	purgeResults  = db.Change(`DELETE FROM result WHERE workunitid = $1`)
	purgeWorkunit = db.Change(`DELETE FROM workunit WHERE id = $1`)
)

// Purge deletes a workunit with its results. Users keep the credit.
func (t *Tx) Purge(id int64) error {
	for _, s := range []*db.Statement{keepCredit, purgeResults} {
		if err := t.run(s, id); err != nil {
			return fmt.Errorf("purge workunit %d: %w", id, err)
		}
	}
	if err := t.execOne(purgeWorkunit, id); err != nil {
		return fmt.Errorf("purge workunit %d: %w", id, err)
	}
	return nil
}

const (
	retryInputs  = `UPDATE workunit SET file_delete_state = 1 WHERE file_delete_state = 3`
	retryOutputs = `UPDATE result SET file_delete_state = 1 WHERE file_delete_state = 3`
)

// RetryDelete makes the file deleter repeat failed deletions, and returns the number of workunits
// and results whose files they are.
func (t *Tx) RetryDelete() (int64, error) {
	w, err := t.exec(retryInputs)
	if err != nil {
		return 0, err
	}
	r, err := t.exec(retryOutputs)
	return w + r, err
}
