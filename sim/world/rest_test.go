package world

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/starling-grid/starling/server/operate"
	"github.com/starling-grid/starling/server/store"
)

// patience is the maximum time for a world to come to rest.
const patience = 250 * day

// rest lets nothing go wrong any more and time pass until nothing is left to do,
// then checks what must hold.
func (w *world) rest() {
	w.tell("nothing goes wrong any more")
	w.resting.Store(true)
	close(w.calmed)
	began := time.Now()
	last, why := began, ""
	for {
		time.Sleep(day + time.Hour)
		if why = w.busy(); why == "" {
			break
		}
		if time.Since(began) > patience {
			w.failf("it does not come to rest: %s", why)
			break
		}
		// The computers here may not take the remaining results, so others are added.
		if time.Since(last) > 20*day && w.unsent() > 0 {
			last = time.Now()
			w.addUser(len(w.keys))
			i := len(w.hosts)
			h := w.join(i)
			_ = h
		}
	}
	w.check()
	w.purge()
	w.mu.Lock()
	for _, h := range w.hosts {
		if !h.gone {
			w.lived += time.Since(h.born)
		}
	}
	w.mu.Unlock()
}

// busy returns the remaining work, or "" if there is none.
func (w *world) busy() string {
	w.server.Lock()
	var st store.Status
	w.view(func(tx *store.View) (err error) {
		st, err = tx.Status(time.Now().Unix())
		return err
	})
	w.server.Unlock()
	if !st.Done || st.Results.ByServerState["in_progress"] > 0 || st.Results.ByServerState["unsent"] > 0 {
		return fmt.Sprintf("%+v", st)
	}
	for _, h := range w.alive() {
		s, err := h.life.a.Status(w.ctx)
		if err != nil {
			return err.Error()
		}
		for _, task := range s.Tasks {
			return fmt.Sprintf("%s has %+v", h.name, task)
		}
	}
	return ""
}

// mostQueued is the maximum number of results for a CPU: one that runs, and as many of the shortest
// as fill a buffer of work_buf_min_days and work_buf_additional_days, 14 hours. Their computing
// times are only learned on the way, so the sum of the times would be less meaningful.
const mostQueued = 5

// queues sees that no computer fetches more than it can compute.
func (w *world) queues() {
	for _, h := range w.alive() {
		s, err := h.life.a.Status(w.ctx)
		if err != nil {
			continue // it ends just now
		}
		n := 0
		for _, task := range s.Tasks {
			if task.Remaining > 0 {
				n++
			}
		}
		if n > mostQueued*h.cpus {
			w.failf("%s has %d results to compute on %d CPUs: %+v", h.name, n, h.cpus, s.Tasks)
		}
	}
}

func (w *world) alive() (list []*host) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, h := range w.hosts {
		if !h.gone && h.life != nil {
			list = append(list, h)
		}
	}
	return list
}

// check sees that all holds that must at rest.
func (w *world) check() {
	w.server.Lock()
	defer w.server.Unlock()
	wrong, err := operate.Doctor(w.p).Examine(w.ctx)
	w.must(err)
	for _, v := range wrong {
		w.failf("doctor: %v", v)
	}
	db, err := sql.Open("sqlite", "file:"+filepath.Join(w.dir, "project", "project.db")+"?mode=ro")
	if !w.must(err) {
		return
	}
	defer db.Close()
	for _, rule := range rules {
		w.checkRule(db, rule.what, rule.query)
	}
	w.checkClaims(db)
	w.checkOutcomes(db)
}

func (w *world) checkRule(db *sql.DB, what, query string) {
	rows, err := db.QueryContext(w.ctx, query)
	if !w.must(err) {
		return
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		w.must(rows.Scan(&name))
		w.failf("%s: %s", what, name)
	}
	w.must(rows.Err())
}

// rules are queries for the names of what must not be at rest.
var rules = []struct{ what, query string }{
	{"a workunit has either a canonical result or an error", `SELECT name FROM workunit WHERE (canonical_resultid = 0) = (error_mask = 0)`},
	{"a workunit is assimilated", `SELECT name FROM workunit WHERE assimilate_state <> 2`},
	{"inputs are deleted", `SELECT name FROM workunit WHERE file_delete_state <> 2`},
	{"a result is over with an outcome", `SELECT name FROM result WHERE server_state <> 5 OR outcome = 0`},
	{"a success is judged", `SELECT name FROM result WHERE outcome = 1 AND validate_state IN (0, 4)`},
	{"valid is what has credit", `SELECT name FROM result WHERE (validate_state = 1) <> (granted_credit > 0)`},
	{"a canonical result has its quorum", `SELECT w.name FROM workunit w WHERE canonical_resultid <> 0 AND
		(SELECT count(*) FROM result r WHERE r.workunitid = w.id AND r.validate_state = 1) < w.min_quorum`},
	{"a host's credit is the sum of its results'", `SELECT h.id FROM host h WHERE
		abs(h.total_credit - (SELECT COALESCE(sum(granted_credit), 0) FROM result r WHERE r.hostid = h.id)) > 1e-6 * (1 + h.total_credit)`},
}

// checkClaims compares the computers' real work with the server's records.
func (w *world) checkClaims(db *sql.DB) {
	w.mu.Lock()
	var lost []string
	for _, h := range w.hosts {
		if h.gone {
			continue
		}
		for name := range h.kept {
			if c := w.claim(name); !c.reported && !c.aborted {
				lost = append(lost, name+" of "+h.name)
			}
		}
	}
	lies, right := make(map[string]bool), make(map[string]bool)
	for name, c := range w.claims {
		lies[name], right[name] = c.lied && !c.right, c.right && !c.lied // a clone may do the other
	}
	w.mu.Unlock()
	for _, what := range slices.Sorted(slices.Values(lost)) {
		w.failf("a finished result is lost: %s", what)
	}
	rows, err := db.QueryContext(w.ctx, `SELECT r.name, w.min_quorum, r.outcome, r.validate_state FROM result r JOIN workunit w ON w.id = r.workunitid`)
	if !w.must(err) {
		return
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		var quorum int
		var outcome store.Outcome
		var judged store.ValidateState
		w.must(rows.Scan(&name, &quorum, &outcome, &judged))
		switch {
		case lies[name] && quorum > 1 && judged == store.Valid:
			w.failf("a liar has credit for %s", name)
		case right[name] && quorum > 1 && outcome == store.Success && judged == store.Invalid:
			w.failf("%s is right and counts as wrong", name)
		case right[name] && outcome == store.ValidateError:
			w.failf("the output of %s is lost", name)
		}
	}
	w.must(rows.Err())
}

// checkOutcomes reads the results for the scientist.
func (w *world) checkOutcomes(db *sql.DB) {
	rows, err := db.QueryContext(w.ctx, `SELECT name, min_quorum FROM workunit WHERE canonical_resultid <> 0`)
	if !w.must(err) {
		return
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		var quorum int
		w.must(rows.Scan(&name, &quorum))
		found, err := filepath.Glob(filepath.Join(w.dir, "project", "results", "*", name, "out"))
		if !w.must(err) {
			continue
		}
		if len(found) != 1 {
			w.failf("outcomes of %s: %v", name, found)
			continue
		}
		b, err := os.ReadFile(found[0])
		if !w.must(err) {
			continue
		}
		if got := string(b); got != "right "+name && (quorum > 1 || !strings.HasPrefix(got, "wrong ")) {
			w.failf("the outcome of %s is %q", name, got)
		}
	}
	w.must(rows.Err())
}

// purge moves all into the archive, and sees that nothing is left.
func (w *world) purge() {
	w.server.Lock()
	w.p.Config.PurgeAfter = 3
	w.server.Unlock()
	time.Sleep(12 * day)
	w.server.Lock()
	defer w.server.Unlock()
	w.view(func(tx *store.View) error {
		st, err := tx.Status(time.Now().Unix())
		if n := st.Workunits.Total + st.Results.Total; n > 0 {
			w.failf("%d rows are not purged", n)
		}
		return err
	})
	for _, dir := range []string{"upload", "download"} {
		w.files(dir)
	}
}

// files looks for what should have been deleted.
func (w *world) files(dir string) {
	tree := w.p.Upload
	if dir == "download" {
		tree = w.p.Download
	}
	w.must(tree.Walk(w.ctx, func(name string, _ time.Time) error {
		if !strings.HasPrefix(name, appName+"_1.00_") {
			w.failf("a file is left in %s/: %s", dir, name)
		}
		return nil
	}))
}
