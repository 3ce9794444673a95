package server_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/operate"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/unsendable"
	"github.com/starling-grid/starling/server/workgen"
)

// A workunit that starts with one result gets another when the first is sent to a computer that is
// not trusted yet. The two must agree.
func TestAdaptiveReplication(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.must(operate.AddApp(t.Context(), w.p, operate.NewApp{Name: "upper", Validator: "numeric:0.1", Assimilator: "copy", TargetNResults: 2}, w.now()))
	w.must(operate.AddVersion(t.Context(), w.p, operate.NewVersion{
		App: "upper", Platform: "x86_64-pc-linux-gnu", Number: "1.00", Main: w.file("upper", "#!/bin/sh\n"),
	}, w.now()))
	w.create(workgen.Params{Name: "wu"}, "hello 1.5")
	a := &client{w: w, key: w.user("a@example.org"), name: "a"}
	b := &client{w: w, key: w.user("b@example.org"), name: "b", wrong: "HELLO 1.55"}
	a.compute(a.fetch())
	if st := w.status(); st.Workunits.Unfinished != 1 || st.Results.Total != 2 {
		t.Errorf("after one: %+v", st)
	}
	b.compute(b.fetch())
	if st := w.status(); !st.Done || st.Results.ByValidateState["valid"] != 2 {
		t.Errorf("after two: %+v", st)
	}
}

// earn gives an account credit and returns its key.
func (w *world) earn(email string) (key protocol.Authenticator) {
	w.t.Helper()
	w.must(w.p.Store.Update(w.t.Context(), func(tx *store.Tx) error {
		u, err := tx.UserByEmail(email)
		if err != nil {
			return err
		}
		key = u.Authenticator
		return tx.AddUserCredit(u.ID, 1, 1, w.now())
	}))
	return key
}

func (w *world) untaken() (found []unsendable.Finding) {
	w.t.Helper()
	w.must(w.p.Store.View(w.t.Context(), func(tx *store.View) (err error) {
		found, err = unsendable.Look(tx, w.p.Config.Once, w.now())
		return err
	}))
	return found
}

// Work that no computer can have is detected, and is given up if the project is set to do so.
func TestNobodyCanComputeIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "max_infeasible = 0", "max_infeasible = 2")
	w.setUp()
	w.create(workgen.Params{Name: "wu", RscDiskBound: 1e15}, "hello")
	for _, name := range []string{"a", "b"} {
		c := &client{w: w, key: w.user(name + "@example.org"), name: name, disk: 1e9}
		c.fetch()
		w.step()
		if st := w.status(); st.Results.ByServerState["unsent"] != 1 {
			t.Errorf("an account without credit counts: %+v", st.Results)
		}
	}
	st := w.untaken()
	if len(st) != 1 || st[0].Cause != unsendable.Disk || st[0].Results != 1 || st[0].Most != 1e9 {
		t.Errorf("nobody can have it, and we are told %+v", st)
	}
	for page, want := range map[string]string{
		"status?json=1": `"untaken":[{"app":"upper","cause":"disk","results":1,"since":"`,
		"status":        `<li>1 result of upper has waited since`,
	} {
		if code, text := w.get(page); code != 200 || !strings.Contains(text, want) {
			t.Errorf("%s does not say so: HTTP %d, %s", page, code, text)
		}
	}
	w.must(w.p.Store.Update(t.Context(), func(tx *store.Tx) error {
		return tx.SetTrouble(store.Trouble{Daemon: "validator", AppID: 1, Waiting: 3, Error: "exit status 1", Retry: time.Now().Add(time.Hour)})
	}))
	if page := w.metrics(); !strings.Contains(page, `starling_work_put_off{app="upper",daemon="validator"} 3`) || !strings.Contains(page, `starling_results_untaken{app="upper",cause="disk"} 1`) {
		t.Errorf("metrics do not say so: %s", page)
	}
	for _, name := range []string{"a", "b"} {
		key := w.earn(name + "@example.org")
		c := &client{w: w, key: key, name: name, disk: 1e9}
		c.fetch()
	}
	w.step()
	if st := w.untaken(); len(st) != 0 {
		t.Errorf("it was given up, and we are told %+v", st)
	}
	if _, info := w.outcome("wu"); len(info.Errors) != 1 || info.Errors[0] != "could not send" {
		t.Errorf("outcome %+v", info)
	}
}

// Work for which no computer has the plan class is detected from the computers' requests.
func TestNobodySuitsThePlanClass(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "# [plan_class.mt]", "[plan_class.mt]\nmin_ncpus = 2\n# [plan_class.mt]")
	w.must(operate.AddApp(t.Context(), w.p, operate.NewApp{Name: "upper", Validator: "bitwise", Assimilator: "copy"}, w.now()))
	w.must(operate.AddVersion(t.Context(), w.p, operate.NewVersion{
		App: "upper", Platform: "x86_64-pc-linux-gnu", Number: "1.00", PlanClass: "mt", Main: w.file("upper", "#!/bin/sh\n"),
	}, w.now()))
	w.create(workgen.Params{Name: "wu"}, "hello")
	c := &client{w: w, key: w.user("a@example.org"), name: "a"}
	c.fetch()
	if found := w.untaken(); len(found) != 1 || found[0].Cause != unsendable.PlanClass || !strings.Contains(found[0].Text.String(), "(mt)") {
		t.Errorf("got %+v", found)
	}
	c.cpus = 2
	if work := c.fetch(); len(work.Results) != 1 {
		t.Errorf("got %v", work.Messages)
	}
	w.create(workgen.Params{Name: "more"}, "hello")
	if found := w.untaken(); len(found) != 0 {
		t.Errorf("got %+v, want nothing", found)
	}
}

// Finished work is moved from the database to an archive. The credit stays, and a file that arrives
// later is deleted.
func TestFinishedWorkIsArchived(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "purge_after_days = 30", "purge_after_days = 3")
	w.setUp()
	w.create(workgen.Params{Name: "wu"}, "hello")
	c := &client{w: w, key: w.user("a@example.org"), name: "a"}
	work := c.fetch()
	c.compute(work)
	if st := w.status(); st.Workunits.Total != 1 || st.Workunits.FilesDeleted != 1 {
		t.Fatalf("got %+v", st.Workunits)
	}
	w.ahead = 73 * time.Hour
	w.step()
	if st := w.status(); st.Workunits.Total != 0 || st.Results.Total != 0 || st.Credit == 0 {
		t.Errorf("got %+v", st)
	}
	if found, err := filepath.Glob(filepath.Join(w.dir, "archive", "wu_1-1.jsonl.gz")); err != nil || len(found) != 1 {
		t.Errorf("archives: %v, %v", found, err)
	}
	late := protocol.ReportedResult{Name: work.Results[0].Name, State: protocol.ClientUploaded}
	if acks := c.rpc(0, late).ResultAcks; len(acks) != 1 {
		t.Errorf("a report of purged work must be acknowledged, or it comes for ever: %v", acks)
	}
	for _, f := range work.Files {
		if f.Name == work.Results[0].FileRefs[0].FileName {
			c.upload(f, "LATE")
		}
	}
	if n := w.files(w.p.Upload); n != 1 {
		t.Errorf("%d files uploaded late, want 1", n)
	}
	w.ahead += 73 * time.Hour
	w.step()
	if n := w.files(w.p.Upload); n != 0 {
		t.Errorf("%d files are left", n)
	}
}
