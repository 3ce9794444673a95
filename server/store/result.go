package store

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/starling-grid/starling/server/db"
)

// A Result is one instance of a workunit.
type Result struct {
	ID           int64
	CreateTime   time.Time
	WorkunitID   int64
	AppID        int64
	Name         string
	XMLDocIn     string // its output file_infos and the result element
	Batch        int64
	Priority     int64
	Random       int64
	Kind         int64 // kind of its workunit, which is stored and not read
	ServerState  ServerState
	Outcome      Outcome
	ClientState  int64
	ExitStatus   int64
	HostID       int64
	UserID       int64
	AppVersionID int64
	VersionNum   int64

	SentTime       time.Time
	ReportDeadline time.Time
	ReceivedTime   time.Time
	CPUTime        float64 // seconds
	ElapsedTime    float64 // seconds
	XMLDocOut      string  // file_infos as the host reported them
	StderrOut      string

	ValidateState   ValidateState
	FileDeleteState FileDeleteState
	ClaimedCredit   float64
	GrantedCredit   float64
	FlopsEstimate   float64
	PeakWorkingSet  float64
	PeakSwap        float64
	PeakDisk        float64
}

var resultColumns = columns[Result]{
	{"id", func(x *Result) any { return &x.ID }},
	{"create_time", func(x *Result) any { return (*unix)(&x.CreateTime) }},
	{"workunitid", func(x *Result) any { return &x.WorkunitID }},
	{"appid", func(x *Result) any { return &x.AppID }},
	{"name", func(x *Result) any { return &x.Name }},
	{"xml_doc_in", func(x *Result) any { return &x.XMLDocIn }},
	{"batch", func(x *Result) any { return &x.Batch }},
	{"priority", func(x *Result) any { return &x.Priority }},
	{"random", func(x *Result) any { return &x.Random }},
	{"server_state", func(x *Result) any { return &x.ServerState }},
	{"outcome", func(x *Result) any { return &x.Outcome }},
	{"client_state", func(x *Result) any { return &x.ClientState }},
	{"exit_status", func(x *Result) any { return &x.ExitStatus }},
	{"hostid", func(x *Result) any { return &x.HostID }},
	{"userid", func(x *Result) any { return &x.UserID }},
	{"app_version_id", func(x *Result) any { return &x.AppVersionID }},
	{"app_version_num", func(x *Result) any { return &x.VersionNum }},
	{"sent_time", func(x *Result) any { return (*unix)(&x.SentTime) }},
	{"report_deadline", func(x *Result) any { return (*unix)(&x.ReportDeadline) }},
	{"received_time", func(x *Result) any { return (*unix)(&x.ReceivedTime) }},
	{"cpu_time", func(x *Result) any { return &x.CPUTime }},
	{"elapsed_time", func(x *Result) any { return &x.ElapsedTime }},
	{"xml_doc_out", func(x *Result) any { return &x.XMLDocOut }},
	{"stderr_out", func(x *Result) any { return &x.StderrOut }},
	{"validate_state", func(x *Result) any { return &x.ValidateState }},
	{"file_delete_state", func(x *Result) any { return &x.FileDeleteState }},
	{"claimed_credit", func(x *Result) any { return &x.ClaimedCredit }},
	{"granted_credit", func(x *Result) any { return &x.GrantedCredit }},
	{"flops_estimate", func(x *Result) any { return &x.FlopsEstimate }},
	{"peak_working_set_size", func(x *Result) any { return &x.PeakWorkingSet }},
	{"peak_swap_size", func(x *Result) any { return &x.PeakSwap }},
	{"peak_disk_usage", func(x *Result) any { return &x.PeakDisk }},
}

var insertResult = resultColumns.InsertInto("result",
	"create_time, workunitid, appid, name, xml_doc_in, batch, priority, random, server_state", "kind", "history")

// InsertResult adds a result that is Inactive or Unsent, and returns its id, or
// ErrExists when the name is taken.
func (t *Tx) InsertResult(r Result) (int64, error) {
	id, err := t.insert(insertResult.Statement, t.newResult(r)...)
	if err != nil {
		return 0, fmt.Errorf("result %s: %w", r.Name, err)
	}
	return id, nil
}

// AddResult is InsertResult without returning the id.
func (t *Tx) AddResult(r Result) error {
	if err := t.add(insertResult.Statement, t.newResult(r)...); err != nil {
		return fmt.Errorf("result %s: %w", r.Name, err)
	}
	return nil
}

func (t *Tx) newResult(r Result) []any {
	return insertResult.Args(&r, r.Kind, t.cause.line("created "+r.ServerState.String()))
}

var (
	resultByID    = `SELECT ` + resultColumns.List() + ` FROM result WHERE id = $1`
	resultByName  = `SELECT ` + resultColumns.List() + ` FROM result WHERE name = $1`
	resultsOf     = `SELECT ` + resultColumns.List() + ` FROM result WHERE workunitid = $1 ORDER BY id`
	resultsOfHost = `SELECT ` + resultColumns.List() + ` FROM result WHERE hostid = $1 ORDER BY id DESC LIMIT 0 + $2`
	inProgressOf  = `SELECT ` + resultColumns.List() + ` FROM result WHERE hostid = $1 AND server_state = 4 ORDER BY id`
)

// Result returns a result, or ErrNotFound.
func (t *View) Result(id int64) (Result, error) { return one(t, resultColumns.Scan, resultByID, id) }

// ResultByName returns a result, or ErrNotFound.
func (t *View) ResultByName(name string) (Result, error) {
	return one(t, resultColumns.Scan, resultByName, name)
}

var resultsByName = `SELECT ` + resultColumns.List() + ` FROM result WHERE name IN ` + names

// ResultsByName returns results by their names. One that is not there is left out.
func (t *View) ResultsByName(list []string) (map[string]Result, error) {
	// A result's name does not contain a zero byte, which PostgreSQL refuses.
	list = slices.DeleteFunc(slices.Clone(list), func(name string) bool { return strings.ContainsRune(name, 0) })
	if len(list) == 0 {
		return nil, nil
	}
	text, err := json.Marshal(list)
	if err != nil {
		return nil, err
	}
	results, err := all(t, resultColumns.Scan, resultsByName, string(text))
	out := make(map[string]Result, len(results))
	for _, r := range results {
		out[r.Name] = r
	}
	return out, err
}

// ResultsOf returns a workunit's results, oldest first.
func (t *View) ResultsOf(workunitID int64) ([]Result, error) {
	return all(t, resultColumns.Scan, resultsOf, workunitID)
}

// ResultsOfHost returns the newest results of a host, newest first. It may read the
// whole table.
func (t *View) ResultsOfHost(hostID int64, limit int) ([]Result, error) {
	return all(t, resultColumns.Scan, resultsOfHost, hostID, limit)
}

// InProgressOf returns the results that a host is to report, oldest first.
func (t *View) InProgressOf(hostID int64) ([]Result, error) {
	return all(t, resultColumns.Scan, inProgressOf, hostID)
}

const inProgressNames = `SELECT name FROM result WHERE hostid = $1 AND server_state = 4`

// InProgressNames returns the names of the results of InProgressOf, in no order.
func (t *View) InProgressNames(hostID int64) ([]string, error) {
	return all(t, scanString, inProgressNames, hostID)
}

// sendResult affects no row if another scheduler sent the result first, or if it is not needed any more. PostgreSQL
// finds each workunit by its id, and its results by an index, because of OFFSET 0.
var (
	sendResult       = sendIf()
	sendResultToUser = sendIf(neverHad("userid = +$3"))
	sendResultToHost = sendIf(neverHad("hostid = +$2"))
)

func sendIf(more ...string) *db.Statement {
	return db.UpdateReading("result", `server_state = 4, hostid = $2, userid = $3, sent_time = $4, report_deadline = $5,
       app_version_id = $6, app_version_num = $7, flops_estimate = $8, history = history || $9`, append([]string{
		"server_state = +$10",
		"EXISTS (SELECT 1 FROM workunit w WHERE w.id = result.workunitid AND " + stillNeeded + " LIMIT 1 OFFSET 0)",
	}, more...)...)
}

// neverHad is true of a result unless another result of its workunit meets a condition and counts.
func neverHad(condition string) string {
	return "NOT EXISTS (SELECT 1 FROM result o WHERE o.workunitid = result.workunitid AND o." + condition + " AND " + counts + " LIMIT 1 OFFSET 0)"
}

// Send gives Unsent results to one or more hosts. It stores the host, user, times, version and
// speed of each. It returns ErrLost if a result is not Unsent, is in the list twice, or belongs to
// a workunit that does not need it any more. The caller must then abandon the transaction.
func (c *Changes) Send(list ...Result) error { return c.send(sendResult, list) }

// SendToUser is Send, and also returns ErrLost if the user was ever sent another result of the workunit, see
// HadByUser. No two of the list may be of the same workunit.
func (c *Changes) SendToUser(list ...Result) error { return c.send(sendResultToUser, list) }

// SendToHost is SendToUser for the host.
func (c *Changes) SendToHost(list ...Result) error { return c.send(sendResultToHost, list) }

func (c *Changes) send(s *db.Statement, list []Result) error {
	rows := make([][]any, len(list))
	for i, r := range list {
		rows[i] = []any{
			r.ID, r.HostID, r.UserID, unix(r.SentTime), unix(r.ReportDeadline),
			r.AppVersionID, r.VersionNum, r.FlopsEstimate, c.cause.sent(r), Unsent,
		}
	}
	return c.execEach(s, rows)
}

var saveResult = resultColumns.Save("result", `client_state, exit_status, received_time, cpu_time, elapsed_time, xml_doc_out,
	stderr_out, claimed_credit, peak_working_set_size, peak_swap_size, peak_disk_usage`,
	"server_state, outcome, hostid, report_deadline, validate_state, file_delete_state, granted_credit",
	"+server_state, outcome, validate_state, +file_delete_state, granted_credit", "history = history || ?")

// SaveResult moves a result from the state old to r. It returns ErrLost if the stored result
// differs from old, and ErrIllegal for an illegal move.
func (c *Changes) SaveResult(old, r Result) error {
	s, args := c.saveResult(old, r)
	if err := c.execOne(s, args...); err != nil {
		return fmt.Errorf("result %s: %w", old.Name, err)
	}
	return nil
}

// A ResultChange is a move of a result, for SaveResults.
type ResultChange struct{ Old, Now Result }

// SaveResults is SaveResult for several changes, no two of the same result. After an error the
// caller must abandon the transaction.
func (c *Changes) SaveResults(list []ResultChange) error {
	alike := make(map[*db.Statement][][]any)
	var statements []*db.Statement // in their order
	for _, x := range list {
		s, args := c.saveResult(x.Old, x.Now)
		if alike[s] == nil {
			statements = append(statements, s)
		}
		alike[s] = append(alike[s], args)
	}
	for _, s := range statements {
		if err := c.execEach(s, alike[s]); err != nil {
			return fmt.Errorf("%d results from %s on: %w", len(list), list[0].Old.Name, err)
		}
	}
	return nil
}

func (c *Changes) saveResult(old, r Result) (*db.Statement, []any) {
	return saveResult.Of(&old, &r, c.cause.result(old, r))
}

const countInProgress = `
SELECT COALESCE(v.plan_class, ''), CASE WHEN r.app_version_id < 0 THEN r.app_version_id ELSE 0 END, count(*)
FROM   result r LEFT JOIN app_version v ON v.id = r.app_version_id
WHERE  r.hostid = $1 AND r.server_state = 4
GROUP  BY 1, 2`

// CountInProgress counts the results of InProgressOf by the plan class of their app version, or the
// AnonymousClass of volunteers' own programs.
func (t *View) CountInProgress(hostID int64) (map[string]int, error) {
	type line struct {
		class string
		own   int64 // below 0: not a version of the project
		n     int
	}
	lines, err := all(t, func(r row) (l line, err error) { return l, r.Scan(&l.class, &l.own, &l.n) }, countInProgress, hostID)
	n := make(map[string]int, len(lines))
	for _, l := range lines {
		if _, kind, own := Anonymous(l.own); own {
			l.class = AnonymousClass(kind)
		}
		n[l.class] += l.n
	}
	return n, err
}

// An output for which another workunit waits is kept until it is passed on.
const resultsToDelete = `
SELECT id FROM result
WHERE  file_delete_state = 1 AND id > $3 AND id % $1 = $2
  AND  NOT EXISTS (SELECT 1 FROM awaited_output WHERE predecessor = result.workunitid AND ` + stillAwaited + `)
ORDER  BY id LIMIT 0 + $4`

// ResultsToDelete returns results whose output files may be deleted.
func (t *View) ResultsToDelete(after int64, limit int) ([]int64, error) {
	return t.queue(resultsToDelete, after, limit)
}

const (
	hadByUser = `SELECT o.workunitid FROM result o WHERE o.workunitid IN ` + ids + ` AND o.userid = +$2 AND ` + counts
	hadByHost = `SELECT o.workunitid FROM result o WHERE o.workunitid IN ` + ids + ` AND o.hostid = +$2 AND ` + counts

	// counts is true if a result keeps its host from having another one of the same workunit. A
	// result does not count if a version that is now withdrawn spoiled it for good, since that is
	// not the host's fault. A result that was not reported in time counts, since it may yet be a
	// success.
	counts = `NOT ((o.outcome IN (3, 5, 6) OR o.validate_state = 2)
       AND EXISTS (SELECT 1 FROM app_version v WHERE v.id = o.app_version_id AND v.deprecated = 1))`
)

// HadByUser returns the workunits, from a list, of which a user was ever sent a result. Results
// that a withdrawn version spoiled do not count.
func (t *View) HadByUser(userID int64, workunits []int64) (map[int64]bool, error) {
	return t.had(hadByUser, userID, workunits)
}

// HadByHost is HadByUser for a host.
func (t *View) HadByHost(hostID int64, workunits []int64) (map[int64]bool, error) {
	return t.had(hadByHost, hostID, workunits)
}

func (t *View) had(query string, id int64, workunits []int64) (map[int64]bool, error) {
	if len(workunits) == 0 {
		return nil, nil
	}
	list, err := all(t, scanID, query, jsonList(workunits), id)
	had := make(map[int64]bool, len(list))
	for _, wu := range list {
		had[wu] = true
	}
	return had, err
}
