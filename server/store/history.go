package store

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// A cause is why the moves of a transaction are made.
type cause struct {
	at      time.Time
	by, why string
}

// SetCause sets the time, the author and the reason of the moves that follow in this transaction,
// for the history of each row. by is the part of the server, such as "scheduler", and why is a few
// words without line breaks. Without SetCause, moves are recorded without a time.
func (c *Changes) SetCause(at time.Time, by, why string) { c.cause = cause{at, by, why} }

// An Event is a move in the history of a workunit or result.
type Event struct {
	Time time.Time // zero: not recorded
	By   string    // part of the server that made the move
	Why  string
	Move string // columns with their old and new values, or "created"
}

// The history of a row is lines of four fields with tabs between them.
const fields = 4

func (c cause) line(move string) string {
	b := make([]byte, 0, 128)
	b = strconv.AppendInt(b, unix(c.at).Int(), 10)
	for _, s := range []string{c.by, c.why, move} {
		b = append(b, '\t')
		b = append(b, s...)
	}
	return string(append(b, '\n'))
}

func readStory(text string) []Event {
	var out []Event
	for line := range strings.Lines(text) {
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), "\t", fields)
		if len(f) != fields {
			continue
		}
		e := Event{By: f[1], Why: f[2], Move: f[3]}
		if n, err := strconv.ParseInt(f[0], 10, 64); err == nil && n > 0 {
			e.Time = time.Unix(n, 0)
		}
		out = append(out, e)
	}
	return out
}

const (
	workunitHistory = `SELECT history FROM workunit WHERE id = $1`
	resultHistory   = `SELECT history FROM result WHERE id = $1`
)

// WorkunitHistory returns the events of a workunit, oldest first, or ErrNotFound.
func (t *View) WorkunitHistory(id int64) ([]Event, error) { return t.history(workunitHistory, id) }

// ResultHistory returns the events of a result, oldest first, or ErrNotFound.
func (t *View) ResultHistory(id int64) ([]Event, error) { return t.history(resultHistory, id) }

func (t *View) history(query string, id int64) ([]Event, error) {
	text, err := one(t, scanString, query, id)
	return readStory(text), err
}

// A move collects the columns that change.
type move struct{ b []byte }

func (m *move) text(column, old, now string) {
	if old == now {
		return
	}
	if len(m.b) > 0 {
		m.b = append(m.b, ", "...)
	}
	m.b = append(append(append(m.b, column...), ' '), old...)
	m.b = append(append(m.b, " → "...), now...)
}

func (m *move) number(column string, old, now int64) {
	if old != now {
		m.text(column, strconv.FormatInt(old, 10), strconv.FormatInt(now, 10))
	}
}

func changed[T interface {
	comparable
	fmt.Stringer
}](m *move, column string, old, now T) {
	if old != now {
		m.text(column, old.String(), now.String())
	}
}

// result returns the line for a change of a result, "" if no state changes.
func (c cause) result(old, r Result) string {
	var m move
	changed(&m, "server_state", old.ServerState, r.ServerState)
	changed(&m, "outcome", old.Outcome, r.Outcome)
	changed(&m, "validate_state", old.ValidateState, r.ValidateState)
	changed(&m, "file_delete_state", old.FileDeleteState, r.FileDeleteState)
	m.number("hostid", old.HostID, r.HostID)
	m.number("exit_status", old.ExitStatus, r.ExitStatus)
	if old.GrantedCredit != r.GrantedCredit {
		m.text("granted_credit", amount(old.GrantedCredit), amount(r.GrantedCredit))
	}
	if !old.ReportDeadline.Equal(r.ReportDeadline) {
		m.text("report_deadline", moment(old.ReportDeadline), moment(r.ReportDeadline))
	}
	return c.moved(m)
}

// workunit returns the line for a change of a workunit, or "" if all states stay the same. The next
// transition time is not a state.
func (c cause) workunit(old, w Workunit) string {
	var m move
	m.number("need_validate", flag(old.NeedValidate).Int(), flag(w.NeedValidate).Int())
	m.number("canonical_resultid", old.CanonicalResultID, w.CanonicalResultID)
	m.number("error_mask", int64(old.ErrorMask), int64(w.ErrorMask))
	changed(&m, "assimilate_state", old.AssimilateState, w.AssimilateState)
	changed(&m, "file_delete_state", old.FileDeleteState, w.FileDeleteState)
	m.number("target_nresults", int64(old.TargetNResults), int64(w.TargetNResults))
	m.number("min_quorum", int64(old.MinQuorum), int64(w.MinQuorum))
	m.number("suspicious", flag(old.Suspicious).Int(), flag(w.Suspicious).Int())
	m.number("hr_class", old.HRClass, w.HRClass)
	m.number("app_version_id", old.AppVersionID, w.AppVersionID)
	m.number("retries", int64(old.Retries), int64(w.Retries))
	return c.moved(m)
}

func (c cause) moved(m move) string {
	if len(m.b) == 0 {
		return ""
	}
	return c.line(string(m.b))
}

func amount(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }

func moment(t time.Time) string {
	if t.IsZero() {
		return "none"
	}
	return t.UTC().Format(time.RFC3339)
}

func (c cause) sent(r Result) string {
	b := strconv.AppendInt([]byte("server_state unsent → in_progress, hostid 0 → "), r.HostID, 10)
	b = append(b, ", report_deadline none → "...)
	return c.line(string(r.ReportDeadline.UTC().AppendFormat(b, time.RFC3339)))
}
