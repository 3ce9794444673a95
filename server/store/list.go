package store

import (
	"strconv"
	"strings"
	"time"
)

// A WorkunitState is the progress of a workunit, in a word.
type WorkunitState string

// The states of workunits, for lists.
const (
	Unfinished WorkunitState = "unfinished" // no canonical result and not given up
	Canonical  WorkunitState = "canonical"  // it has a canonical result
	GivenUp    WorkunitState = "error"      // it was given up
	Validating WorkunitState = "validating" // results wait for the validator
)

// State returns the first of GivenUp, Canonical and Unfinished that holds.
func (w *Workunit) State() WorkunitState {
	switch {
	case w.ErrorMask != 0:
		return GivenUp
	case w.CanonicalResultID != 0:
		return Canonical
	}
	return Unfinished
}

// A WorkunitFilter selects the workunits to list. Fields that are zero match all.
type WorkunitFilter struct {
	State         WorkunitState
	Errors        ErrorMask // given up for one of these
	AppID, Batch  int64
	HostID        int64 // that was sent a result of it
	Before, Since time.Time
	Limit         int // at least 1
}

// A ResultFilter selects the results to list. Fields that are zero or nil match all.
type ResultFilter struct {
	State         ServerState
	Outcome       *Outcome
	Validate      *ValidateState
	AppID, Batch  int64
	HostID        int64
	UserID        int64
	VersionID     int64
	WorkunitID    int64
	Before, Since time.Time // when it was made
	Limit         int       // at least 1
}

// A where is the condition of a query with its arguments.
type where struct {
	text strings.Builder
	args []any
}

// and adds a condition, in which $ is the argument.
func (w *where) and(condition string, arg any) {
	w.args = append(w.args, arg)
	w.text.WriteString(" AND " + strings.ReplaceAll(condition, "$", "$"+strconv.Itoa(len(w.args))))
}

// equal adds the condition that a column has a value, unless that is 0.
func (w *where) equal(column string, value int64) {
	if value != 0 {
		w.and(column+" = $", value)
	}
}

// made adds when a row was made: before a time, or since one.
func (w *where) made(before, since time.Time) {
	if !before.IsZero() {
		w.and("create_time < $", unix(before))
	}
	if !since.IsZero() {
		w.and("create_time >= $", unix(since))
	}
}

// newest returns a query for the rows that meet the condition, the newest first.
func (w *where) newest(columns, table string, limit int) (query string, args []any) {
	args = append(w.args, limit)
	return "SELECT " + columns + " FROM " + table + " WHERE id > 0" + w.text.String() +
		" ORDER BY id DESC LIMIT 0 + $" + strconv.Itoa(len(args)), args
}

// rare adds the condition that a column has a value. Values above 1 are in few rows, so for these
// it repeats the condition of their index.
func (w *where) rare(column string, value int64) {
	if value > 1 {
		w.text.WriteString(" AND " + column + " > 1")
	}
	w.and(column+" = $", value)
}

// ListWorkunits returns the newest workunits that a filter lets through, newest first. It
// may read the whole table.
func (t *View) ListWorkunits(f WorkunitFilter) ([]Workunit, error) {
	query, args := f.query()
	return all(t, workunitColumns.Scan, query, args...)
}

func (f *WorkunitFilter) query() (query string, args []any) {
	var w where
	switch f.State {
	case Unfinished:
		w.text.WriteString(" AND canonical_resultid = 0 AND error_mask = 0")
	case Canonical:
		w.text.WriteString(" AND canonical_resultid <> 0")
	case GivenUp:
		w.text.WriteString(" AND error_mask <> 0")
	case Validating:
		w.text.WriteString(" AND need_validate = 1")
	}
	if f.Errors != 0 {
		w.and("error_mask <> 0 AND (error_mask & $) <> 0", int64(f.Errors))
	}
	w.equal("appid", f.AppID)
	if f.Batch != 0 {
		w.and("batch = $ AND batch <> 0", f.Batch) // the condition of its index
	}
	if f.HostID != 0 {
		w.and("EXISTS (SELECT 1 FROM result r WHERE r.workunitid = workunit.id AND r.hostid = $)", f.HostID)
	}
	w.made(f.Before, f.Since)
	return w.newest(workunitColumns.List(), "workunit", f.Limit)
}

// ListResults returns the newest results that a filter lets through, newest first. It may
// read the whole table.
func (t *View) ListResults(f ResultFilter) ([]Result, error) {
	query, args := f.query()
	return all(t, resultColumns.Scan, query, args...)
}

func (f *ResultFilter) query() (query string, args []any) {
	var w where
	w.equal("server_state", int64(f.State))
	if f.Outcome != nil {
		w.rare("outcome", int64(*f.Outcome))
	}
	if f.Validate != nil {
		w.rare("validate_state", int64(*f.Validate))
	}
	w.equal("appid", f.AppID)
	w.equal("batch", f.Batch)
	w.equal("hostid", f.HostID)
	w.equal("userid", f.UserID)
	w.equal("app_version_id", f.VersionID)
	w.equal("workunitid", f.WorkunitID)
	w.made(f.Before, f.Since)
	return w.newest(resultColumns.List(), "result", f.Limit)
}

var (
	overOfHost = `SELECT ` + resultColumns.List() + ` FROM result WHERE server_state = 5 AND hostid = $1 AND ($3 = 0 OR id < $3) ORDER BY id DESC LIMIT 0 + $2`
	nowOfHost  = `SELECT ` + resultColumns.List() + ` FROM result WHERE server_state = 4 AND hostid = $1 ORDER BY id DESC LIMIT 0 + $2`
)

// OverOfHost returns the newest results that a host has ended with, newest first, and of these
// the ones before an id, if that is not 0.
func (t *View) OverOfHost(hostID, before int64, limit int) ([]Result, error) {
	return all(t, resultColumns.Scan, overOfHost, hostID, limit, before)
}

// NowOfHost returns results that are in progress on a host, newest first.
func (t *View) NowOfHost(hostID int64, limit int) ([]Result, error) {
	return all(t, resultColumns.Scan, nowOfHost, hostID, limit)
}

const batchList = `
SELECT batch, count(*),
       count(*) FILTER (WHERE canonical_resultid = 0 AND error_mask = 0),
       count(*) FILTER (WHERE canonical_resultid <> 0),
       count(*) FILTER (WHERE error_mask <> 0),
       count(*) FILTER (WHERE assimilate_state = 2),
       sum(canonical_credit), min(create_time), min(appid), max(appid)
FROM   workunit WHERE batch <> 0 GROUP BY batch ORDER BY batch DESC LIMIT 0 + $1`

// A BatchSummary is a BatchStatus without its results, for lists.
type BatchSummary struct {
	BatchStatus
	CreateTime time.Time `json:"create_time"`     // of its first workunit
	AppID      int64     `json:"appid,omitempty"` // 0: of several applications
}

// Batches returns the batches with the highest numbers, the highest first. It reads all
// workunits of batches.
func (t *View) Batches(limit int) ([]BatchSummary, error) {
	return all(t, func(r row) (s BatchSummary, err error) {
		var last int64
		err = r.Scan(&s.Batch, &s.Total, &s.Unfinished, &s.Canonical, &s.Error, &s.Assimilate, &s.Credit,
			(*unix)(&s.CreateTime), &s.AppID, &last)
		if s.AppID != last {
			s.AppID = 0
		}
		return s, err
	}, batchList, limit)
}
