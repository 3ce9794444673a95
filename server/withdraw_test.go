package server_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/operate"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/store/storetest"
	"github.com/starling-grid/starling/server/unsendable"
	"github.com/starling-grid/starling/server/workgen"
)

// A broken version is withdrawn while a computer has a result of it: that is taken back
// without a failure, and another version computes the workunit.
func TestAVersionIsWithdrawn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.setUp()
	w.create(workgen.Params{Name: "wu", MaxErrorResults: 1}, "hello")
	a := &client{w: w, key: w.user("a@example.org"), name: "a"}
	first := a.fetch()
	if len(first.Results) != 1 || first.Results[0].VersionNum != 100 {
		t.Fatalf("got %+v", first.Results)
	}
	spec := operate.VersionSpec{App: "upper", Number: "1.00"}
	if _, err := operate.RemoveVersion(t.Context(), w.p, spec); err == nil || !strings.Contains(err.Error(), "version deprecate") {
		t.Errorf("removing what is sent: %v", err)
	}
	got, err := operate.Deprecate(t.Context(), w.p, spec, false, w.now())
	if err != nil || len(got) != 1 || got[0].InProgress != 1 || !got[0].Last || got[0].Deprecated {
		t.Errorf("got %+v, %v", got, err)
	}
	if _, err := operate.RemoveVersion(t.Context(), w.p, spec); err == nil || !strings.Contains(err.Error(), "1 task in progress") {
		t.Errorf("removing what is in progress: %v", err)
	}
	w.version("1.01")
	if got, err = operate.Deprecate(t.Context(), w.p, spec, true, w.now()); err != nil || len(got) != 1 || got[0].TakenBack != 1 || got[0].InProgress != 0 || got[0].Last || !got[0].Deprecated {
		t.Errorf("got %+v, %v", got, err)
	}
	w.step()
	if st := w.status(); st.Results.ByOutcome["didnt_need"] != 1 || st.Results.ByServerState["unsent"] != 1 || st.Workunits.Error != 0 {
		t.Errorf("got %+v, %+v", st.Results, st.Workunits)
	}
	if reply := a.rpc(0); !slices.Equal(reply.ResultAborts, []string{"wu_0"}) {
		t.Errorf("aborts %v", reply.ResultAborts)
	}
	a.have = nil
	// An abort by the computer is no failure either, and a finished result stays as it is.
	if reply := a.rpc(0, protocol.ReportedResult{Name: "wu_0", State: protocol.ClientAborted, ExitStatus: 203}); !slices.Contains(reply.ResultAcks, "wu_0") {
		t.Errorf("the report is not acknowledged: %+v", reply.ResultAcks)
	}
	b := &client{w: w, key: w.user("b@example.org"), name: "b"}
	next := b.fetch()
	if len(next.Results) != 1 || next.Results[0].VersionNum != 101 {
		t.Fatalf("got %+v: %v", next.Results, next.Messages)
	}
	b.compute(next)
	w.step()
	if _, info := w.outcome("wu"); len(info.Errors) != 0 || info.Canonical.Result != "wu_1" {
		t.Errorf("outcome %+v", info)
	}
	files := w.files(w.p.Download)
	removed, err := operate.RemoveVersion(t.Context(), w.p, spec)
	if err != nil || len(removed) != 1 || !removed[0].Kept || len(removed[0].Files) != 1 || w.files(w.p.Download) != files-1 {
		t.Errorf("removed %+v, %v; %d files, were %d", removed, err, w.files(w.p.Download), files)
	}
	if err := operate.AddVersion(t.Context(), w.p, operate.NewVersion{
		App: "upper", Platform: "x86_64-pc-linux-gnu", Number: "1.00", Main: w.file("again", "#!/bin/sh\necho\n"),
	}, w.now()); err == nil || !strings.Contains(err.Error(), "already exists") {
		t.Errorf("a number that computers have was given again: %v", err)
	}
	if wrong := storetest.Look(t, w.p.Store, (*store.View).Doctor); len(wrong) != 0 {
		t.Errorf("doctor says %v", wrong)
	}
}

// A version that fails everywhere is withdrawn in a project of one computer. With the next version,
// the computer then computes the tasks that failed before and the tasks that were taken back.
func TestTheOnlyComputerComputesAgainAfterAWithdrawal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.setUp()
	w.create(workgen.Params{Name: "failed"}, "hello")
	w.create(workgen.Params{Name: "taken_back"}, "hello")
	a := &client{w: w, key: w.user("a@example.org"), name: "a"}
	if got := a.rpc(2e6); len(got.Results) != 2 {
		t.Fatalf("got %d results, want 2: %v", len(got.Results), got.Messages)
	}
	a.rpc(0, protocol.ReportedResult{Name: "failed_0", State: protocol.ClientComputeError, ExitStatus: 1})
	w.step()
	if found := w.untaken(); len(found) != 1 || found[0].Cause != unsendable.Had || found[0].Results != 1 || !strings.Contains(found[0].Text.String(), "has had a result of the same workunit") || found[0].Cure == "" {
		t.Errorf("nothing says why it waits: %+v", found)
	}
	w.version("1.01")
	if got, err := operate.Deprecate(t.Context(), w.p, operate.VersionSpec{App: "upper", Number: "1.00"}, true, w.now()); err != nil || len(got) != 1 || got[0].TakenBack != 1 {
		t.Fatalf("got %+v, %v", got, err)
	}
	w.step()
	if found := w.untaken(); len(found) != 0 {
		t.Errorf("what can be had again is untaken: %+v", found)
	}
	a.have = nil
	again := a.rpc(2e6)
	if len(again.Results) != 2 || again.Results[0].VersionNum != 101 {
		t.Fatalf("got %+v: %v", again.Results, again.Messages)
	}
	a.compute(again)
	w.step()
	if st := w.status(); st.Workunits.Canonical != 2 || st.Workunits.Assimilated != 2 {
		t.Errorf("got %+v", st.Workunits)
	}
}

// While all versions of an application are withdrawn, its work waits as if the application were
// stopped, and the volunteers' computers are not called unsuitable.
func TestAllVersionsAreWithdrawn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.setUp()
	w.create(workgen.Params{Name: "wu"}, "hello")
	w.must(operate.AddApp(t.Context(), w.p, operate.NewApp{Name: "other", Validator: "bitwise", Assimilator: "copy"}, w.now()))
	w.must(operate.AddVersion(t.Context(), w.p, operate.NewVersion{
		App: "other", Platform: "windows_x86_64", Number: "1.00", Main: w.file("other", "MZ\x00"),
	}, w.now()))
	if _, err := operate.Deprecate(t.Context(), w.p, operate.VersionSpec{App: "upper", Number: "1.00"}, true, w.now()); err != nil {
		t.Fatal(err)
	}
	a := &client{w: w, key: w.user("a@example.org"), name: "a"}
	reply := a.fetch()
	if len(reply.Results) != 0 || len(reply.Refusals) != 1 || reply.Refusals[0].Code != protocol.RefusedStopped || reply.Refusals[0].App != "upper" {
		t.Errorf("got %d results, %+v, %v", len(reply.Results), reply.Refusals, reply.Messages)
	}
	w.version("1.01")
	if again := a.fetch(); len(again.Results) != 1 {
		t.Errorf("with a new version: %+v, %v", again.Refusals, again.Messages)
	}
}

// The work of a stopped application is not sent, and the volunteer gets the reason, even if the
// application is the only one for the volunteer's platform. It does not count as work that no
// computer can have.
func TestAnApplicationIsStopped(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.setUp()
	w.create(workgen.Params{Name: "wu", TargetNResults: 2}, "hello")
	a := &client{w: w, key: w.user("a@example.org"), name: "a"}
	work := a.fetch()
	if use, err := operate.StopApp(t.Context(), w.p, "upper", true); err != nil || use.InProgress != 1 || use.Unsent != 1 || use.Unfinished != 1 {
		t.Errorf("got %+v, %v", use, err)
	}
	w.must(operate.AddApp(t.Context(), w.p, operate.NewApp{Name: "other", Validator: "bitwise", Assimilator: "copy"}, w.now()))
	w.must(operate.AddVersion(t.Context(), w.p, operate.NewVersion{
		App: "other", Platform: "windows_x86_64", Number: "1.00", Main: w.file("other", "MZ\x00"),
	}, w.now()))
	b := &client{w: w, key: w.user("b@example.org"), name: "b"}
	reply := b.fetch()
	if len(reply.Results) != 0 || len(reply.Refusals) != 1 || reply.Refusals[0].Code != protocol.RefusedStopped || reply.Refusals[0].App != "upper" {
		t.Errorf("got %d results, %+v, %v", len(reply.Results), reply.Refusals, reply.Messages)
	}
	w.must(w.p.Store.View(t.Context(), func(tx *store.View) error {
		found, err := unsendable.Look(tx, w.p.Config.Once, w.now())
		if len(found) != 0 {
			t.Errorf("what waits on purpose is told as untaken: %+v", found)
		}
		return err
	}))
	a.compute(work) // the task in progress counts
	w.step()
	if st := w.status(); st.Workunits.Canonical != 1 {
		t.Errorf("got %+v", st.Workunits)
	}
	w.create(workgen.Params{Name: "next"}, "hello")
	if _, err := operate.StopApp(t.Context(), w.p, "upper", false); err != nil {
		t.Error(err)
	}
	if reply := b.fetch(); len(reply.Results) != 1 {
		t.Errorf("started again: %v", reply.Messages)
	}
}

// A version is withdrawn, and its results taken back, when there may not be more results. The workunit continues.
func TestResultsThatAreTakenBackDoNotCountAgainstTheMost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.setUp()
	w.create(workgen.Params{Name: "wu", MinQuorum: 1, TargetNResults: 1, MaxTotalResults: 1, MaxErrorResults: 1, MaxSuccessResults: 1}, "hello")
	a := &client{w: w, key: w.user("a@example.org"), name: "a"}
	if first := a.fetch(); len(first.Results) != 1 {
		t.Fatalf("got %+v", first.Results)
	}
	w.version("1.01")
	if got, err := operate.Deprecate(t.Context(), w.p, operate.VersionSpec{App: "upper", Number: "1.00"}, true, w.now()); err != nil || got[0].TakenBack != 1 {
		t.Fatalf("got %+v, %v", got, err)
	}
	w.step()
	if st := w.status(); st.Workunits.Error != 0 || st.Results.ByServerState["unsent"] != 1 {
		t.Errorf("got %+v, %+v", st.Results, st.Workunits)
	}
}
