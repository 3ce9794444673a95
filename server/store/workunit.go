package store

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/starling-grid/starling/server/db"
)

// A Workunit is a job and its progress in the project.
type Workunit struct {
	ID                int64
	CreateTime        time.Time
	AppID             int64
	Name              string
	XMLDoc            string // its file_infos and the workunit element
	Batch             int64
	Priority          int64
	RscFpopsEst       float64
	RscFpopsBound     float64
	RscMemoryBound    float64
	RscDiskBound      float64
	DelayBound        time.Duration
	RscBandwidthBound float64 // bytes a second (0: any)
	Credit            float64 // of each valid result (0: by the application's rule)

	MinQuorum          int
	TargetNResults     int
	MaxErrorResults    int
	MaxTotalResults    int
	MaxSuccessResults  int
	ResultTemplateFile string // below the project's directory

	NeedValidate       bool
	CanonicalResultID  int64
	CanonicalCredit    float64
	TransitionTime     time.Time // when the transitioner next looks at it, or Never
	ErrorMask          ErrorMask
	FileDeleteState    FileDeleteState
	AssimilateState    AssimilateState
	HRClass            int64
	AppVersionID       int64
	TransitionerFlags  int64     // 1 leave alone, 2 no new results
	Awaiting           bool      // something is not there yet: results are made Inactive
	Predecessor        int64     // the workunit after which it comes (0: none)
	PredecessorPending bool      // the predecessor is unfinished
	HasSuccessor       bool      // workunits wait for its outcome
	Retries            int       // how often it was revived after it had been given up
	RetriedResultID    int64     // its newest result at that time, up to which failures do not count any more
	Target             Target    // the hosts that may have its results, which does not change
	LastChance         bool      // one more failure gives it up
	TokenID            int64     // with which it was submitted (0: none)
	OwnPriority        int64     // rank among the workunits of its token, higher is sent first
	Suspicious         bool      // the validator doubts a result: only trusted accounts get further ones
	ModTime            time.Time // when it was assimilated or, later, its files were deleted (read only)
}

var workunitColumns = columns[Workunit]{
	{"id", func(w *Workunit) any { return &w.ID }},
	{"create_time", func(w *Workunit) any { return (*unix)(&w.CreateTime) }},
	{"appid", func(w *Workunit) any { return &w.AppID }},
	{"name", func(w *Workunit) any { return &w.Name }},
	{"xml_doc", func(w *Workunit) any { return &w.XMLDoc }},
	{"batch", func(w *Workunit) any { return &w.Batch }},
	{"priority", func(w *Workunit) any { return &w.Priority }},
	{"rsc_fpops_est", func(w *Workunit) any { return &w.RscFpopsEst }},
	{"rsc_fpops_bound", func(w *Workunit) any { return &w.RscFpopsBound }},
	{"rsc_memory_bound", func(w *Workunit) any { return &w.RscMemoryBound }},
	{"rsc_disk_bound", func(w *Workunit) any { return &w.RscDiskBound }},
	{"delay_bound", func(w *Workunit) any { return (*span)(&w.DelayBound) }},
	{"min_quorum", func(w *Workunit) any { return &w.MinQuorum }},
	{"target_nresults", func(w *Workunit) any { return &w.TargetNResults }},
	{"max_error_results", func(w *Workunit) any { return &w.MaxErrorResults }},
	{"max_total_results", func(w *Workunit) any { return &w.MaxTotalResults }},
	{"max_success_results", func(w *Workunit) any { return &w.MaxSuccessResults }},
	{"result_template_file", func(w *Workunit) any { return &w.ResultTemplateFile }},
	{"need_validate", func(w *Workunit) any { return (*flag)(&w.NeedValidate) }},
	{"canonical_resultid", func(w *Workunit) any { return &w.CanonicalResultID }},
	{"canonical_credit", func(w *Workunit) any { return &w.CanonicalCredit }},
	{"transition_time", func(w *Workunit) any { return (*unix)(&w.TransitionTime) }},
	{"error_mask", func(w *Workunit) any { return &w.ErrorMask }},
	{"file_delete_state", func(w *Workunit) any { return &w.FileDeleteState }},
	{"assimilate_state", func(w *Workunit) any { return &w.AssimilateState }},
	{"hr_class", func(w *Workunit) any { return &w.HRClass }},
	{"app_version_id", func(w *Workunit) any { return &w.AppVersionID }},
	{"transitioner_flags", func(w *Workunit) any { return &w.TransitionerFlags }},
	{"rsc_bandwidth_bound", func(w *Workunit) any { return &w.RscBandwidthBound }},
	{"awaiting", func(w *Workunit) any { return (*flag)(&w.Awaiting) }},
	{"predecessor", func(w *Workunit) any { return &w.Predecessor }},
	{"predecessor_pending", func(w *Workunit) any { return (*flag)(&w.PredecessorPending) }},
	{"has_successor", func(w *Workunit) any { return (*flag)(&w.HasSuccessor) }},
	{"credit", func(w *Workunit) any { return &w.Credit }},
	{"retries", func(w *Workunit) any { return &w.Retries }},
	{"retried_resultid", func(w *Workunit) any { return &w.RetriedResultID }},
	{"last_chance", func(w *Workunit) any { return (*flag)(&w.LastChance) }},
	{"tokenid", func(w *Workunit) any { return &w.TokenID }},
	{"own_priority", func(w *Workunit) any { return &w.OwnPriority }},
	{"suspicious", func(w *Workunit) any { return (*flag)(&w.Suspicious) }},
	{"target_type", func(w *Workunit) any { return &w.Target.Type }},
	{"target_id", func(w *Workunit) any { return &w.Target.ID }},
	{"mod_time", func(w *Workunit) any { return (*unix)(&w.ModTime) }},
}

var insertWorkunit = workunitColumns.InsertInto("workunit", `create_time, appid, name, xml_doc, batch, priority,
	rsc_fpops_est, rsc_fpops_bound, rsc_memory_bound, rsc_disk_bound, delay_bound, min_quorum, target_nresults,
	max_error_results, max_total_results, max_success_results, result_template_file, transition_time,
	transitioner_flags, rsc_bandwidth_bound, awaiting, predecessor, predecessor_pending, credit, target_type, target_id, tokenid, own_priority`,
	"history")

var insertWorkunitFile = db.Insert("workunit_file", "workunitid, name")

// InsertWorkunit adds a workunit with the physical names of its input files,
// and returns its id, or ErrExists when the name is taken.
func (t *Tx) InsertWorkunit(w Workunit, files []string) (int64, error) {
	id, err := t.insert(insertWorkunit.Statement, insertWorkunit.Args(&w, t.cause.line("created"))...)
	if err != nil {
		return 0, fmt.Errorf("workunit %s: %w", w.Name, err)
	}
	for _, f := range files {
		if err := t.run(insertWorkunitFile, id, f); err != nil {
			return 0, fmt.Errorf("workunit %s: file %s: %w", w.Name, f, err)
		}
	}
	return id, nil
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
