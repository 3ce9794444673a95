package store

import "fmt"

// A Job is a workunit with its results, oldest first.
type Job struct {
	Workunit Workunit
	Results  []Result
}

// Rows by a list of ids, which comes as JSON: one query for a batch costs little
// more than one for a row.
const (
	ids   = `(SELECT value FROM json_each($1))`
	ids2  = `(SELECT value FROM json_each($2))`
	names = `(SELECT value /* text */ FROM json_each($1))`
)

var (
	workunitsByID = byID(`SELECT `+workunitColumns.List()+` FROM workunit WHERE id`, "")
	resultsByID   = `SELECT ` + resultColumns.List() + ` FROM result WHERE id IN ` + ids
	resultsOfAll  = `SELECT ` + resultColumns.List() + ` FROM result WHERE workunitid IN ` + ids + ` ORDER BY id`
)

// Job returns a workunit with its results, or ErrNotFound.
func (t *View) Job(id int64) (Job, error) {
	jobs, err := t.Jobs([]int64{id})
	if err != nil {
		return Job{}, err
	}
	j, ok := jobs[id]
	if !ok {
		return j, fmt.Errorf("workunit %d: %w", id, ErrNotFound)
	}
	return j, nil
}

// Jobs returns workunits with their results by the workunits' ids. One that is
// not there is left out.
func (t *View) Jobs(list []int64) (map[int64]Job, error) {
	jobs := make(map[int64]Job, len(list))
	wus, err := t.Workunits(list)
	if err != nil {
		return nil, err
	}
	for id, wu := range wus {
		jobs[id] = Job{Workunit: wu}
	}
	results, err := all(t, resultColumns.Scan, resultsOfAll, jsonList(list))
	if err != nil {
		return nil, err
	}
	for _, r := range results {
		j := jobs[r.WorkunitID]
		j.Results = append(j.Results, r)
		jobs[r.WorkunitID] = j
	}
	return jobs, nil
}

// Workunits returns workunits by their ids. One that is not there is left out.
func (t *View) Workunits(list []int64) (map[int64]Workunit, error) {
	out := make(map[int64]Workunit, len(list))
	return out, t.Ask(WorkunitsByID(list, func(wu Workunit) { out[wu.ID] = wu }))
}

// WorkunitsByID asks for workunits by their ids.
func WorkunitsByID(list []int64, found func(Workunit)) Question {
	return withIDs(workunitsByID, list, workunitColumns.Scan, found)
}

// Results returns results by their ids. One that is not there is left out.
func (t *View) Results(list []int64) (map[int64]Result, error) {
	results, err := all(t, resultColumns.Scan, resultsByID, jsonList(list))
	out := make(map[int64]Result, len(results))
	for _, r := range results {
		out[r.ID] = r
	}
	return out, err
}
