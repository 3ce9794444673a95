package store

import (
	"fmt"
	"time"

	"github.com/starling-grid/starling/server/db"
)

// A Result is one instance of a workunit.
type Result struct {
	ID           int64       `db:"id"`
	CreateTime   time.Time   `db:"create_time"`
	WorkunitID   int64       `db:"workunitid"`
	AppID        int64       `db:"appid"`
	Name         string      `db:"name"`
	XMLDocIn     string      `db:"xml_doc_in"` // its output file_infos and the result element
	Batch        int64       `db:"batch"`
	Priority     int64       `db:"priority"`
	Random       int64       `db:"random"`
	Kind         int64       `db:"kind"` // of its workunit
	ServerState  ServerState `db:"server_state"`
	Outcome      Outcome     `db:"outcome"`
	ClientState  int64       `db:"client_state"`
	ExitStatus   int64       `db:"exit_status"`
	HostID       int64       `db:"hostid"`
	UserID       int64       `db:"userid"`
	AppVersionID int64       `db:"app_version_id"`
	VersionNum   int64       `db:"app_version_num"`

	SentTime       time.Time `db:"sent_time"`
	ReportDeadline time.Time `db:"report_deadline"`
	ReceivedTime   time.Time `db:"received_time"`
	CPUTime        float64   `db:"cpu_time"`     // seconds
	ElapsedTime    float64   `db:"elapsed_time"` // seconds
	XMLDocOut      string    `db:"xml_doc_out"`  // file_infos as the host reported them
	StderrOut      string    `db:"stderr_out"`

	ValidateState   ValidateState   `db:"validate_state"`
	FileDeleteState FileDeleteState `db:"file_delete_state"`
	ClaimedCredit   float64         `db:"claimed_credit"`
	GrantedCredit   float64         `db:"granted_credit"`
	FlopsEstimate   float64         `db:"flops_estimate"`
	PeakWorkingSet  float64         `db:"peak_working_set_size"`
	PeakSwap        float64         `db:"peak_swap_size"`
	PeakDisk        float64         `db:"peak_disk_usage"`
	EnergyWh        float64         `db:"energy_wh"` // watt-hours, or 0 if it is not known
}

var resultColumns = db.ColumnsOf[Result]()

var insertResult = resultColumns.InsertInto("result",
	"create_time, workunitid, appid, name, xml_doc_in, batch, priority, random, server_state, kind", "history")

// AddResult adds a result that is Inactive or Unsent. Names are unique.
func (t *Tx) AddResult(r Result) error {
	args := insertResult.Args(&r, t.cause.line("created "+r.ServerState.String()))
	if err := t.add(insertResult.Statement, args...); err != nil {
		return fmt.Errorf("result %s: %w", r.Name, err)
	}
	return nil
}

var (
	resultByID   = `SELECT ` + resultColumns.List() + ` FROM result WHERE id = $1`
	resultsOf    = `SELECT ` + resultColumns.List() + ` FROM result WHERE workunitid = $1 ORDER BY id`
	inProgressOf = `SELECT ` + resultColumns.List() + ` FROM result WHERE hostid = $1 AND server_state = 4 ORDER BY id`
)

// Result returns a result, or ErrNotFound.
func (t *View) Result(id int64) (Result, error) { return one(t, resultColumns.Scan, resultByID, id) }

// ResultByName returns a result, or ErrNotFound.
func (t *View) ResultByName(name string) (Result, error) {
	return one(t, resultColumns.Scan, resultsByName.one, name)
}

var resultsByName = byText(`SELECT `+resultColumns.List()+` FROM result WHERE name`, "")

// ResultsByName asks for results by their names.
func ResultsByName(list []string, found func(Result)) Question {
	return withTexts(resultsByName, list, resultColumns.Scan, found)
}

// ResultsOf returns a workunit's results, oldest first.
func (t *View) ResultsOf(workunitID int64) ([]Result, error) {
	return all(t, resultColumns.Scan, resultsOf, workunitID)
}

// InProgressOf returns the results that a host is to report, oldest first.
func (t *View) InProgressOf(hostID int64) ([]Result, error) {
	return all(t, resultColumns.Scan, inProgressOf, hostID)
}

var inProgressNames = byID(`SELECT `+heldColumns.List()+` FROM result WHERE hostid`, ` AND server_state = 4`)

// A Held is the name of a result in progress with its host.
type Held struct {
	HostID int64  `db:"hostid"`
	Name   string `db:"name"`
}

var heldColumns = db.ColumnsOf[Held]()

// InProgressNames asks for the names of the results that hosts are to report, in no order.
func InProgressNames(hosts []int64, found func(Held)) Question {
	return withIDs(inProgressNames, hosts, heldColumns.Scan, found)
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
	stderr_out, claimed_credit, peak_working_set_size, peak_swap_size, peak_disk_usage, energy_wh`,
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

var countInProgress = byID(`
SELECT r.hostid, COALESCE(v.plan_class, ''), CASE WHEN r.app_version_id < 0 THEN r.app_version_id ELSE 0 END, count(*)
FROM   result r LEFT JOIN app_version v ON v.id = r.app_version_id
WHERE  r.hostid`, ` AND r.server_state = 4
GROUP  BY 1, 2, 3`)

// A Count is the number of results in progress that a host computes with versions of a plan class, or of an
// AnonymousClass.
type Count struct {
	HostID    int64
	PlanClass string
	N         int
}

// CountInProgress asks for the numbers of results that hosts are to report. A plan class may have several Counts.
func CountInProgress(hosts []int64, found func(Count)) Question {
	return withIDs(countInProgress, hosts, func(r row) (c Count, err error) {
		var version int64 // below 0: not one of the project
		if err = r.Scan(&c.HostID, &c.PlanClass, &version, &c.N); err != nil {
			return c, err
		}
		if _, kind, own := Anonymous(version); own {
			c.PlanClass = AnonymousClass(kind)
		}
		return c, nil
	}, found)
}

const (
	hadByUser = `SELECT o.userid, o.workunitid FROM result o WHERE o.workunitid IN ` + ids + ` AND o.userid + 0 IN ` + ids2 + ` AND ` + counts
	hadByHost = `SELECT o.hostid, o.workunitid FROM result o WHERE o.workunitid IN ` + ids + ` AND o.hostid + 0 IN ` + ids2 + ` AND ` + counts

	// counts is true if a result keeps its host from having another one of the same workunit. A
	// result does not count if a version that is now withdrawn spoiled it for good, since that is
	// not the host's fault. A result that was not reported in time counts, since it may yet be a
	// success.
	counts = `NOT ((o.outcome IN (3, 5, 6) OR o.validate_state = 2)
       AND EXISTS (SELECT 1 FROM app_version v WHERE v.id = o.app_version_id AND v.deprecated = 1))`
)

// A Had is a workunit of which a host, or a user, was sent a result.
type Had struct{ By, WorkunitID int64 }

// HadByUsers asks which workunits of a list were ever sent, as results, to which users of a list. Results that a
// withdrawn version spoiled do not count.
func HadByUsers(users, workunits []int64, found func(Had)) Question {
	return had(hadByUser, users, workunits, found)
}

// HadByHosts is HadByUsers for hosts.
func HadByHosts(hosts, workunits []int64, found func(Had)) Question {
	return had(hadByHost, hosts, workunits, found)
}

func had(query string, by, workunits []int64, found func(Had)) Question {
	if len(by) == 0 || len(workunits) == 0 {
		return Question{}
	}
	scan := func(r row) (h Had, err error) { return h, r.Scan(&h.By, &h.WorkunitID) }
	return db.NewQuestion(scan, found, query, jsonList(workunits), jsonList(by))
}
