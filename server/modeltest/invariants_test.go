package modeltest

import (
	"database/sql"
	"fmt"
	"slices"
	"time"

	"github.com/starling-grid/starling/server/store"
)

// rest lets time pass until nothing is left to do, with hosts that do what they
// should, then checks what must hold.
func (w *world) rest() {
	w.drain = true
	n := len(w.hosts)
	defer func() { w.drain, w.hosts = false, w.hosts[:n] }()
	for round := 0; !w.failed; round++ {
		for busy := true; busy && !w.failed; {
			busy = false
			for d := range daemons {
				busy = w.pass(0, d) > 0 || busy
			}
		}
		next, unsent, waiting := w.outlook()
		switch {
		case unsent > 0:
			// New computers of new people take what is there.
			h := w.addHost(w.addUser(), manner{})
			for range 3 {
				w.rpc(h, 1e6)
				for range 4 * len(h.have) {
					w.compute(h)
				}
				w.now = w.now.Add(10 * time.Second)
			}
			w.rpc(h, 0)
		case waiting:
			w.now = w.now.Add(time.Hour)
		case next.Before(store.Never):
			if next.After(w.now) {
				w.now = next
			}
			w.now = w.now.Add(time.Second)
		default:
			w.check()
			return
		}
		if round > 1000 {
			var who sql.NullString
			w.query(`SELECT group_concat(name || ' ' || need_validate || ' ' || assimilate_state || ' ' || file_delete_state || ' ' ||
				error_mask || ' ' || canonical_resultid) FROM workunit
				WHERE need_validate = 1 OR assimilate_state <> 2 OR file_delete_state <> 2`, &who)
			w.failf("stalled: %d unsent, next transition %v, now %v, waiting %v: %s", unsent, next, w.now, waiting, who.String)
		}
	}
}

// outlook says what is left to do: when the transitioner looks next, how much
// is to be sent, and whether some daemon has put something off.
func (w *world) outlook() (next time.Time, unsent int64, waiting bool) {
	var sec, n int64
	w.query(`SELECT (SELECT COALESCE(min(transition_time), 253402300799) FROM workunit),
		(SELECT count(*) FROM result WHERE server_state = 2),
		(SELECT count(*) FROM workunit WHERE need_validate = 1 OR assimilate_state = 1 OR file_delete_state IN (1, 3))
		+ (SELECT count(*) FROM result WHERE file_delete_state IN (1, 3))`, &sec, &unsent, &n)
	return time.Unix(sec, 0), unsent, n > 0
}

func (w *world) query(q string, into ...any) {
	if err := w.audit.QueryRowContext(w.ctx, q).Scan(into...); err != nil {
		w.failf("%s: %v", q, err)
	}
}

// The moves that each state may make. Whatever else the database sees is
// written down by a trigger and found by check.
var legal = map[string][]string{
	"server_state":      {"2 4", "2 5", "4 5"},
	"outcome":           {"0 1", "0 3", "0 4", "0 5", "0 7", "1 6", "4 1", "4 3", "7 1", "7 3"},
	"validate_state":    {"0 1", "0 2", "0 3", "0 4", "0 5", "4 1", "4 2", "4 3"},
	"file_delete_state": {"0 1", "1 2", "1 3", "3 2", "3 1", "2 0", "3 0"},
	"assimilate_state":  {"0 1", "1 2"},
	"wu_delete_state":   {"0 1", "1 2", "1 3", "3 2", "3 1"},
	"canonical":         {"0 1"},
	"given_up":          {"0 1"},
}

// watch makes the database write down every move.
func (w *world) watch() {
	var err error
	w.audit, err = sql.Open("sqlite", "file:"+w.path+"?_pragma=busy_timeout(60000)&_pragma=synchronous(OFF)")
	must(w.t, err)
	w.audit.SetMaxOpenConns(1)
	exec := func(q string) {
		_, err := w.audit.ExecContext(w.ctx, q)
		must(w.t, err)
	}
	exec(`CREATE TABLE IF NOT EXISTS moves (kind TEXT, move TEXT, name TEXT, PRIMARY KEY (kind, move)) WITHOUT ROWID`)
	for _, x := range []struct{ kind, table, column, value string }{
		{"server_state", "result", "server_state", "server_state"},
		{"outcome", "result", "outcome", "outcome"},
		{"validate_state", "result", "validate_state", "validate_state"},
		{"file_delete_state", "result", "file_delete_state", "file_delete_state"},
		{"credit", "result", "granted_credit", "(%s.granted_credit <> 0)"},
		{"assimilate_state", "workunit", "assimilate_state", "assimilate_state"},
		{"wu_delete_state", "workunit", "file_delete_state", "file_delete_state"},
		{"canonical", "workunit", "canonical_resultid", "(%s.canonical_resultid <> 0)"},
		{"given_up", "workunit", "error_mask", "(%s.error_mask <> 0)"},
	} {
		old, now := "OLD."+x.value, "NEW."+x.value
		if x.value[0] == '(' {
			old, now = fmt.Sprintf(x.value, "OLD"), fmt.Sprintf(x.value, "NEW")
		}
		exec(fmt.Sprintf(`CREATE TRIGGER IF NOT EXISTS model_%s AFTER UPDATE OF %s ON %s WHEN OLD.%s <> NEW.%s BEGIN
			INSERT OR IGNORE INTO moves VALUES ('%s', %s || ' ' || %s, NEW.name); END`,
			x.kind, x.column, x.table, x.column, x.column, x.kind, old, now))
	}
}

// check sees that all that must hold at rest does.
func (w *world) check() {
	legal := legal
	rows, err := w.audit.QueryContext(w.ctx, `SELECT kind, move, name FROM moves`)
	must(w.t, err)
	defer rows.Close()
	for rows.Next() {
		var kind, move, name string
		must(w.t, rows.Scan(&kind, &move, &name))
		if kind == "credit" {
			if move != "0 1" {
				w.failf("credit of %s changed from %s", name, move)
			}
		} else if !slices.Contains(legal[kind], move) {
			w.failf("%s of %s moved %s", kind, name, move)
		}
	}
	must(w.t, rows.Err())
	w.view(func(tx *store.Tx) error {
		wrong, err := tx.Doctor()
		for _, s := range wrong {
			w.failf("%s", s)
		}
		for _, name := range w.names {
			w.checkWorkunit(tx, name)
		}
		return err
	})
	for name := range w.input {
		w.failf("input %s is left", name)
	}
	var bad int
	w.query(`SELECT count(*) FROM host h WHERE abs(total_credit -
		(SELECT COALESCE(sum(granted_credit), 0) FROM result WHERE hostid = h.id)) > 1e-6 * (1 + total_credit)`, &bad)
	if bad > 0 {
		w.failf("%d hosts have credit that no result explains", bad)
	}
}

func (w *world) checkWorkunit(tx *store.Tx, name string) {
	k := w.wus[name]
	before := w.failed
	defer func() {
		if w.failed && !before {
			w.t.Log(w.tell(name))
		}
	}()
	wu, err := tx.WorkunitByName(name)
	if err != nil {
		w.failf("%v", err)
		return
	}
	if (wu.CanonicalResultID != 0) == (wu.ErrorMask != 0) {
		w.failf("%s ends with canonical result %d and error mask %d", name, wu.CanonicalResultID, wu.ErrorMask)
	}
	if wu.AssimilateState != store.AssimilateDone || k.calls-k.lost != 1 {
		w.failf("%s was assimilated %d times, %d of them before a crash; %v", name, k.calls, k.lost, wu.AssimilateState)
	}
	if wu.FileDeleteState != store.DeleteDone {
		w.failf("files of %s: %v", name, wu.FileDeleteState)
	}
	results, err := tx.ResultsOf(wu.ID)
	if err != nil {
		w.failf("%v", err)
	}
	agreed := 0
	users, hosts := map[int64]bool{}, map[int64]bool{}
	for _, r := range results {
		if r.ServerState != store.Over || r.Outcome == store.OutcomeInit {
			w.failf("%s ends %v", r.Name, r.ServerState)
		}
		if r.Outcome == store.Success && (r.ValidateState == store.ValidateInit || r.ValidateState == store.Inconclusive) {
			w.failf("%s ends a success that is %v", r.Name, r.ValidateState)
		}
		if (r.ValidateState == store.Valid) != (r.GrantedCredit > 0) {
			w.failf("%s is %v and has credit %v", r.Name, r.ValidateState, r.GrantedCredit)
		}
		if r.ValidateState == store.Valid {
			agreed++
		}
		if r.HostID != 0 {
			if w.cfg.OneResultPerUserPerWU && users[r.UserID] {
				w.failf("user %d has two results of %s", r.UserID, name)
			}
			users[r.UserID], hosts[r.HostID] = true, true
		}
		if _, left := w.files[r.Name+"_0"]; left && !w.strays[r.Name] && !givenUp(r) {
			w.failf("output of %s is left: %v, %v, %v", r.Name, r.Outcome, r.ValidateState, r.FileDeleteState)
		}
		if len(results) > wu.MaxTotalResults {
			w.failf("%s has %d results, at most %d are allowed", name, len(results), wu.MaxTotalResults)
		}
	}
	if wu.CanonicalResultID == 0 {
		return
	}
	if most := k.quorum/2 + 1; agreed < most {
		w.failf("%s has a canonical result with which %d agree, want %d", name, agreed, most)
	}
}

// tell describes a workunit and its results.
func (w *world) tell(name string) (s string) {
	w.view(func(tx *store.Tx) error {
		wu, err := tx.WorkunitByName(name)
		if err != nil {
			return err
		}
		results, err := tx.ResultsOf(wu.ID)
		wu.XMLDoc = ""
		s = fmt.Sprintf("%+v\n", wu)
		for _, r := range results {
			s += fmt.Sprintf("  %s %v %v %v files %v, received %v, deadline %v\n", r.Name, r.ServerState, r.Outcome, r.ValidateState,
				r.FileDeleteState, r.ReceivedTime.Unix(), r.ReportDeadline.Unix())
		}
		return err
	})
	return s
}
