package store

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/starling-grid/starling/server/db"
)

// A Workunit is a job and its progress in the project.
type Workunit struct {
	ID                int64         `db:"id"`
	CreateTime        time.Time     `db:"create_time"`
	AppID             int64         `db:"appid"`
	Name              string        `db:"name"`
	XMLDoc            string        `db:"xml_doc"` // its file_infos and the workunit element
	Batch             int64         `db:"batch"`
	Priority          int64         `db:"priority"`
	RscFpopsEst       float64       `db:"rsc_fpops_est"`
	RscFpopsBound     float64       `db:"rsc_fpops_bound"`
	RscMemoryBound    float64       `db:"rsc_memory_bound"`
	RscDiskBound      float64       `db:"rsc_disk_bound"`
	DelayBound        time.Duration `db:"delay_bound"`
	RscBandwidthBound float64       `db:"rsc_bandwidth_bound"` // bytes a second (0: any)
	Credit            float64       `db:"credit"`              // of each valid result (0: by the application's rule)

	MinQuorum          int    `db:"min_quorum"`
	TargetNResults     int    `db:"target_nresults"`
	MaxErrorResults    int    `db:"max_error_results"`
	MaxTotalResults    int    `db:"max_total_results"`
	MaxSuccessResults  int    `db:"max_success_results"`
	ResultTemplateFile string `db:"result_template_file"` // below the project's directory

	NeedValidate       bool            `db:"need_validate"`
	CanonicalResultID  int64           `db:"canonical_resultid"`
	CanonicalCredit    float64         `db:"canonical_credit"`
	TransitionTime     time.Time       `db:"transition_time"` // when the transitioner next looks at it, or Never
	ErrorMask          ErrorMask       `db:"error_mask"`
	FileDeleteState    FileDeleteState `db:"file_delete_state"`
	AssimilateState    AssimilateState `db:"assimilate_state"`
	HRClass            int64           `db:"hr_class"`
	AppVersionID       int64           `db:"app_version_id"`
	TransitionerFlags  int64           `db:"transitioner_flags"`  // 1 leave alone, 2 no new results
	Awaiting           bool            `db:"awaiting"`            // something is not there yet: results are made Inactive
	Predecessor        int64           `db:"predecessor"`         // the workunit after which it comes (0: none)
	PredecessorPending bool            `db:"predecessor_pending"` // the predecessor is unfinished
	HasSuccessor       bool            `db:"has_successor"`       // workunits wait for its outcome
	Retries            int             `db:"retries"`             // how often it was revived after it had been given up
	RetriedResultID    int64           `db:"retried_resultid"`    // its newest result at that time, up to which failures do not count any more
	Target             Target          `db:"target_"`             // the hosts that may have its results, which does not change
	LastChance         bool            `db:"last_chance"`         // one more failure gives it up
	TokenID            int64           `db:"tokenid"`             // with which it was submitted (0: none)
	OwnPriority        int64           `db:"own_priority"`        // rank among the workunits of its token, higher is sent first
	Suspicious         bool            `db:"suspicious"`          // the validator doubts a result: only trusted accounts get further ones
	ModTime            time.Time       `db:"mod_time"`            // when it was assimilated or, later, its files were deleted (read only)
}

var workunitColumns = db.ColumnsOf[Workunit]()

var insertWorkunit = workunitColumns.InsertInto("workunit", `create_time, appid, name, xml_doc, batch, priority,
	rsc_fpops_est, rsc_fpops_bound, rsc_memory_bound, rsc_disk_bound, delay_bound, min_quorum, target_nresults,
	max_error_results, max_total_results, max_success_results, result_template_file, transition_time,
	transitioner_flags, rsc_bandwidth_bound, awaiting, predecessor, predecessor_pending, credit, target_type, target_id, tokenid, own_priority`,
	"history")

var insertWorkunitFile = db.Insert("workunit_file", "workunitid, name")

// A NewWorkunit is a workunit without an id, with the physical names of its input files.
type NewWorkunit struct {
	Workunit
	Files []string
}

// InsertWorkunits adds workunits and returns their ids. If a name is taken, also by an earlier workunit of the
// list, it returns ErrExists and the ids before it. The caller must then abandon the transaction.
func (t *Tx) InsertWorkunits(list ...NewWorkunit) ([]int64, error) {
	rows := make([][]any, len(list))
	for i, w := range list {
		rows[i] = insertWorkunit.Args(&w.Workunit, t.cause.line("created"))
	}
	ids, err := t.tx.InsertEach(insertWorkunit.Statement, rows)
	if errors.Is(err, ErrExists) {
		return t.untilTaken(list, ids)
	}
	if err != nil {
		return nil, fmt.Errorf("%d workunits from %s on: %w", len(list), list[0].Name, err)
	}
	var files [][]any
	for i, w := range list {
		for _, f := range w.Files {
			files = append(files, []any{ids[i], f})
		}
	}
	return ids, t.changes.RunEach(insertWorkunitFile, files)
}

// untilTaken returns ErrExists for the first workunit that has not got one of the new ids, and the ids before it.
func (t *Tx) untilTaken(list []NewWorkunit, made []int64) (ids []int64, err error) {
	for _, w := range list {
		found, err := t.WorkunitByName(w.Name)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(made, found.ID) || slices.Contains(ids, found.ID) {
			return ids, fmt.Errorf("workunit %s: %w", w.Name, ErrExists)
		}
		ids = append(ids, found.ID)
	}
	return ids, ErrExists
}

var (
	workunitByID   = `SELECT ` + workunitColumns.List() + ` FROM workunit WHERE id = $1`
	workunitByName = `SELECT ` + workunitColumns.List() + ` FROM workunit WHERE name = $1`
)

// Workunit returns a workunit, or ErrNotFound.
func (t *View) Workunit(id int64) (Workunit, error) {
	w, err := one(t, workunitColumns.Scan, workunitByID, id)
	if err != nil {
		return w, fmt.Errorf("workunit %d: %w", id, err)
	}
	return w, nil
}

// WorkunitByName returns a workunit, or ErrNotFound.
func (t *View) WorkunitByName(name string) (Workunit, error) {
	w, err := one(t, workunitColumns.Scan, workunitByName, name)
	if err != nil {
		return w, fmt.Errorf("workunit %s: %w", name, err)
	}
	return w, nil
}

// SQLite prepares a query again for each value of a parameter that is compared with a column of a
// partial index or, after ANALYZE, of any index but a unique one, to see whether that index would
// help. The plus signs prevent that, here and where queries are many. The 0 + before LIMIT does so
// in all queries.
var saveWorkunit = workunitColumns.Save("workunit", `canonical_credit, hr_class, app_version_id, retried_resultid`,
	`need_validate, canonical_resultid, transition_time, error_mask, file_delete_state, assimilate_state, target_nresults, min_quorum,
	retries, last_chance, suspicious, mod_time`,
	`+need_validate, canonical_resultid, +transition_time, error_mask, +file_delete_state, +assimilate_state,
	target_nresults, hr_class, app_version_id, retries`,
	"history = history || ?")

// SaveWorkunit moves a workunit from the state old to w. When the workunit is assimilated or its
// files are deleted, its ModTime becomes the time given to SetCause. It returns ErrLost if the
// stored workunit differs from old, and ErrIllegal for an illegal move.
func (c *Changes) SaveWorkunit(old, w Workunit) error {
	w.ModTime = old.ModTime
	if w.FileDeleteState == DeleteDone && old.FileDeleteState != DeleteDone ||
		w.AssimilateState == AssimilateDone && old.AssimilateState != AssimilateDone {
		w.ModTime = c.cause.at
	}
	save, args := saveWorkunit.Of(&old, &w, c.cause.workunit(old, w))
	err := c.execOne(save, args...)
	if err == nil && w.Kind() != old.Kind() {
		err = c.run(setKindOf, old.ID, w.Kind())
	}
	if err != nil {
		return fmt.Errorf("workunit %s: %w", old.Name, err)
	}
	return nil
}

var holdWorkunit = db.Holding("workunit")

// HoldWorkunits keeps other transactions from changing workunits until this one ends. It also keeps
// other transactions that hold the workunits from sending their results.
func (c *Changes) HoldWorkunits(list []int64) error {
	rows := make([][]any, len(list))
	for i, id := range list {
		rows[i] = []any{id}
	}
	return c.changes.RunEach(holdWorkunit, rows)
}

var transitionBy = db.Update("workunit", "transition_time = CASE WHEN transition_time < $2 THEN transition_time ELSE $2 END")

// TransitionBy makes the transitioner look at a workunit at the given time at
// the latest.
func (c *Changes) TransitionBy(id int64, at time.Time) error {
	return c.run(transitionBy, id, unix(at))
}

// TransitionEachBy is TransitionBy for several workunits, by their ids.
func (c *Changes) TransitionEachBy(when map[int64]time.Time) error {
	rows := make([][]any, 0, len(when))
	for _, id := range slices.Sorted(maps.Keys(when)) { // so that two that meet do not wait for each other
		rows = append(rows, []any{id, unix(when[id])})
	}
	return c.changes.RunEach(transitionBy, rows)
}

var keepCommitment = db.Update("workunit", "hr_class = $2, app_version_id = $3", "hr_class = $2", "app_version_id = $3")

// KeepCommitment returns ErrLost unless a workunit is committed to the class of hosts and the version of old.
func (c *Changes) KeepCommitment(old Workunit) error {
	return c.execOne(keepCommitment, old.ID, old.HRClass, old.AppVersionID)
}

const waitingWorkunits = `
SELECT id FROM workunit
WHERE  transition_time < 253402300799 AND transition_time > $3 AND transition_time <= $4 AND transitioner_flags <> 1 AND id % $1 = $2
ORDER  BY transition_time LIMIT 0 + $5`

// TransitionWaiting makes the transitioner look now at workunits that wait for a time until to, the
// earliest first, and returns their number.
func (t *Tx) TransitionWaiting(now, to time.Time, limit int) (int, error) {
	ids, err := t.queue(waitingWorkunits, unix(now), unix(to), limit)
	when := make(map[int64]time.Time, len(ids))
	for _, id := range ids {
		when[id] = now
	}
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	return len(ids), t.TransitionEachBy(when)
}

const unvalidated = `
SELECT id FROM workunit
WHERE  canonical_resultid + error_mask = 0 AND appid = +$1 AND id > $2 AND need_validate = 0 AND +transition_time > $3
AND    EXISTS (SELECT 1 FROM result WHERE workunitid = workunit.id AND outcome = 1 AND validate_state = 0)
AND    min_quorum <= (SELECT count(*) FROM result WHERE workunitid = workunit.id AND outcome = 1 AND validate_state IN (0, 4))
ORDER  BY id LIMIT 0 + $4`

// Unvalidated returns unfinished workunits of an application, with ids above after, that have enough successes for their
// quorum, one of them not compared, and are looked at again only after now. It looks at all unfinished workunits.
func (t *View) Unvalidated(appID, after int64, now time.Time, limit int) ([]int64, error) {
	return all(t, scanID, unvalidated, appID, after, unix(now), limit)
}

var putOffTransition = db.Update("workunit", "transition_time = $2")

// PutOffTransition sets when the transitioner next looks at a workunit that it cannot handle now.
func (t *Tx) PutOffTransition(id int64, at time.Time) error {
	return t.run(putOffTransition, id, unix(at))
}

// LockFiles keeps other transactions from adding workunits and from deleting their input files,
// until this one ends, so that a file that was seen stays, and a missing one stays missing. It must
// be the first call in an Update.
func (t *Tx) LockFiles() error { return t.tx.Lock("workunit_file") }

// Each file's workunits are found by its name, and never the other way round.
const sharedFiles = `
SELECT DISTINCT f.name FROM workunit_file f
WHERE  f.name IN ` + names + ` AND NOT f.workunitid + 0 IN ` + ids2 + `
  AND  (SELECT w.file_delete_state FROM workunit w WHERE w.id = f.workunitid) <> 2`

// SharedFiles returns the files of a list that workunits which are not in another list still need.
func (t *View) SharedFiles(list []string, except []int64) (map[string]bool, error) {
	if len(list) == 0 {
		return nil, nil
	}
	shared, err := all(t, scanString, sharedFiles, jsonTexts(list), jsonList(except))
	out := make(map[string]bool, len(shared))
	for _, name := range shared {
		out[name] = true
	}
	return out, err
}

// FileNeeded reports whether a workunit still needs a file.
func (t *View) FileNeeded(name string) (bool, error) {
	needed, err := t.SharedFiles([]string{name}, nil)
	return needed[name], err
}
