package store

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/starling-grid/starling/server/db"
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
	Below         int64 // only lower ids
	Limit         int   // at least 1
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
	Below         int64     // only lower ids
	Limit         int       // at least 1
}

// searched is the number of rows that are examined for a list. More would take too long if few of
// them are wanted.
const searched = 20_000

// A where is the condition of a query with its arguments. Conditions that an index fulfills come
// first.
type where struct {
	index, rest strings.Builder
	args        []any
	ofIndex     int // arguments of index
}

// number replaces $ by the number of the next argument.
func (w *where) number(condition string, arg any) string {
	w.args = append(w.args, arg)
	return " AND " + strings.ReplaceAll(condition, "$", "$"+strconv.Itoa(len(w.args)))
}

// with adds a condition that an index fulfills, in which $ is the argument.
func (w *where) with(condition string, arg ...any) {
	if len(arg) == 0 {
		w.index.WriteString(" AND " + condition)
		return
	}
	w.index.WriteString(w.number(condition, arg[0]))
	w.ofIndex = len(w.args)
}

// and adds another condition, in which $ is the argument.
func (w *where) and(condition string, arg any) { w.rest.WriteString(w.number(condition, arg)) }

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

// rare adds the condition that a column has a value. Values above 1 are in few rows, so for these
// it repeats the condition of their index.
func (w *where) rare(column string, value int64) {
	if value > 1 {
		w.with(column+" > 1 AND "+column+" = $", value)
		return
	}
	w.and(column+" = $", value)
}

// floor returns a query for the id at and below which rows are not examined.
func (w *where) floor(table string, below int64) (query string, args []any) {
	args = append(args, w.args[:w.ofIndex]...)
	args = append(args, below, searched)
	n := len(args)
	return fmt.Sprintf("SELECT id FROM %s WHERE id < $%d%s ORDER BY id DESC LIMIT 1 OFFSET 0 + $%d", table, n-1, w.index.String(), n), args
}

// newest returns a query for the rows that meet the condition and have ids between two, the newest
// first. It finds candidates by their ids first, since databases would else rather read the table
// than an index and the rows.
func (w *where) newest(columns, table string, above, below int64, limit int) (query string, args []any) {
	n := len(w.args)
	condition := fmt.Sprintf("id > $%d AND id < $%d", n+1, n+2)
	if w.index.Len() > 0 { // with both bounds, SQLite would read the table
		condition += fmt.Sprintf(" AND id IN (SELECT id FROM %s WHERE id < $%d%s ORDER BY id DESC LIMIT 0 + $%d)", table, n+2, w.index.String(), n+4)
	}
	query = fmt.Sprintf("SELECT %s FROM %s WHERE %s%s ORDER BY id DESC LIMIT 0 + $%d", columns, table, condition, w.rest.String(), n+3)
	args = append(args, w.args...)
	args = append(args, above, below, limit)
	if w.index.Len() > 0 {
		enough := limit
		if w.rest.Len() > 0 {
			enough = searched
		}
		args = append(args, enough)
	}
	return query, args
}

// list returns the newest rows that meet a condition, newest first. If there may be more, older is
// an id above theirs, else 0.
func list[T any](t *View, columns db.Columns[T], table string, w *where, below int64, limit int, id func(T) int64) (rows []T, older int64, err error) {
	below = cmp.Or(below, math.MaxInt64)
	var floor int64
	if w.rest.Len() > 0 {
		query, args := w.floor(table, below)
		if floor, err = one(t, scanID, query, args...); err != nil && !errors.Is(err, ErrNotFound) {
			return nil, 0, err
		}
	}
	query, args := w.newest(columns.List(), table, floor, below, limit)
	rows, err = all(t, columns.Scan, query, args...)
	switch {
	case err != nil:
	case len(rows) == limit:
		older = id(rows[limit-1])
	case floor > 0:
		older = floor + 1
	}
	return rows, older, err
}

// ListWorkunits returns the newest workunits that a filter lets through, newest first. It examines
// a limited number. If there may be more, older is not 0, and they have lower ids.
func (t *View) ListWorkunits(f WorkunitFilter) (found []Workunit, older int64, err error) {
	return list(t, workunitColumns, "workunit", f.where(), f.Below, f.Limit, func(w Workunit) int64 { return w.ID })
}

func (f *WorkunitFilter) where() *where {
	w := new(where)
	switch f.State {
	case Unfinished:
		w.with("canonical_resultid + error_mask = 0") // neither is negative, and this is the condition of its index
	case GivenUp:
		w.with("error_mask <> 0")
	case Validating:
		w.with("need_validate = 1")
	}
	if f.Errors != 0 {
		w.with("error_mask <> 0 AND (error_mask & $) <> 0", int64(f.Errors))
	}
	if f.Batch != 0 {
		w.with("batch = $ AND batch <> 0", f.Batch) // the condition of its index
	}
	if f.State == Canonical {
		w.rest.WriteString(" AND canonical_resultid <> 0")
	}
	w.equal("appid", f.AppID)
	if f.HostID != 0 {
		w.and("EXISTS (SELECT 1 FROM result r WHERE r.workunitid = workunit.id AND r.hostid = $)", f.HostID)
	}
	w.made(f.Before, f.Since)
	return w
}

// ListResults is ListWorkunits for results.
func (t *View) ListResults(f ResultFilter) (found []Result, older int64, err error) {
	if f.HostID != 0 && f.State == 0 { // the results of hosts have two indexes
		for _, f.State = range []ServerState{InProgress, Over} {
			more, next, err := t.ListResults(f)
			if err != nil {
				return nil, 0, err
			}
			found, older = append(found, more...), max(older, next)
		}
		slices.SortFunc(found, func(a, b Result) int { return cmp.Compare(b.ID, a.ID) })
		if len(found) > f.Limit {
			older = max(older, found[f.Limit-1].ID)
		}
		return slices.DeleteFunc(found, func(r Result) bool { return r.ID < older }), older, nil
	}
	return list(t, resultColumns, "result", f.where(), f.Below, f.Limit, func(r Result) int64 { return r.ID })
}

func (f *ResultFilter) where() *where {
	w := new(where)
	if f.State != 0 && f.State < Over {
		w.with("server_state + 0 < 5") // the condition of its index
	}
	switch {
	case f.HostID != 0:
		w.with("hostid = $", f.HostID)
		w.with("server_state = " + strconv.Itoa(int(f.State)))
	case f.State != 0:
		w.equal("server_state", int64(f.State))
	}
	if f.WorkunitID != 0 {
		w.with("workunitid = $", f.WorkunitID)
	}
	if f.Outcome != nil {
		w.rare("outcome", int64(*f.Outcome))
	}
	if f.Validate != nil {
		w.rare("validate_state", int64(*f.Validate))
	}
	w.equal("appid", f.AppID)
	w.equal("batch", f.Batch)
	w.equal("userid", f.UserID)
	w.equal("app_version_id", f.VersionID)
	w.made(f.Before, f.Since)
	return w
}
