package server_test

import (
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/operate"
	"github.com/starling-grid/starling/server/operate/view"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/store/storetest"
	"github.com/starling-grid/starling/server/transitioner"
	"github.com/starling-grid/starling/server/workgen"
)

// fail fetches a result and reports that the application failed.
func (c *client) fail() {
	c.w.t.Helper()
	work := c.fetch()
	if len(work.Results) != 1 {
		c.w.t.Fatalf("%s got %d results: %v", c.name, len(work.Results), work.Messages)
	}
	c.have = nil
	c.rpc(0, protocol.ReportedResult{Name: work.Results[0].Name, State: protocol.ClientComputeError, ExitStatus: 1})
	c.w.step()
}

func (w *world) retry(r operate.RetrySpec) operate.Retried {
	w.t.Helper()
	done, err := operate.Retry(w.t.Context(), w.p, r, w.now())
	w.must(err)
	w.step()
	return done
}

// Work that was given up after a bad version is revived: one that had computed it well
// before counts, the failures do not, and the project gets the outcome in place of the
// failure.
func TestRetry(t *testing.T) {
	t.Parallel()
	w := newWorld(t, keepFiles, keepFiles)
	w.setUp()
	w.create(workgen.Params{Name: "wu", MinQuorum: 2, MaxErrorResults: 1, MaxTotalResults: 3}, "hello")
	w.create(workgen.Params{Name: "other"}, "other")
	w.must(func() error {
		_, err := operate.CancelWork(t.Context(), w.p, operate.CancelSpec{IDs: []int64{2}}, w.now())
		return err
	}())
	client := func(name string) *client { return &client{w: w, key: w.user(name + "@example.org"), name: name} }
	good := client("good")
	good.compute(good.fetch())
	client("bad").fail()
	client("worse").fail()
	if _, info := w.outcome("wu"); strings.Join(info.Errors, ", ") != "too many error results, too many total results" {
		t.Fatalf("given up for %v", info.Errors)
	}
	failing, err := store.Read(t.Context(), w.p.Store, func(tx *store.View) ([]store.Violation, error) { return view.FailingVersions(tx, w.now()) })
	if err != nil || len(failing) != 1 || failing[0].Rows[0] != "upper 1.00 for x86_64-pc-linux-gnu fails on 100 % of its tasks (2 of 2)" {
		t.Errorf("failing versions: %+v, %v", failing, err)
	}

	all := operate.RetrySpec{App: "upper", Again: true, Reason: "version 1.00\twas  withdrawn", DryRun: true}
	if got := w.retry(all); got.Workunits != 1 || got.Refused[transitioner.Cancelled] != 1 {
		t.Errorf("counted %+v", got)
	}
	if got := w.retry(operate.RetrySpec{IDs: []int64{1}}); got.Workunits != 0 || got.Refused[transitioner.Taken] != 1 {
		t.Errorf("behind the project's back: %+v", got)
	}
	if st := w.status(); st.Workunits.Error != 2 {
		t.Fatalf("counting changed something: %+v", st.Workunits)
	}
	for mask, want := range map[store.ErrorMask]int{store.ErrorCouldntSend: 0, store.ErrorCouldntSend | store.ErrorTooManyTotal: 1} {
		if got := w.retry(operate.RetrySpec{App: "upper", Again: true, Errors: mask, DryRun: true}); got.Workunits != want {
			t.Errorf("of %v: %+v, want %d", mask.Reasons(), got, want)
		}
	}
	all.DryRun = false
	if got := w.retry(all); got.Workunits != 1 || got.Refused[transitioner.Cancelled] != 1 {
		t.Errorf("revived %+v", got)
	}
	if got := w.retry(all); got.Workunits != 0 {
		t.Errorf("revived again: %+v", got)
	}
	next := client("next")
	next.compute(next.fetch())
	if _, info := w.outcome("wu"); len(info.Errors) != 0 || info.Canonical.Result != "wu_0" {
		t.Errorf("outcome %+v", info)
	}
	if st := w.status(); st.Workunits.Canonical != 1 || st.Results.ByValidateState["valid"] != 2 || st.Results.Granted != 2 {
		t.Errorf("got %+v, %+v", st.Workunits, st.Results)
	}
	history := storetest.Get(t, w.p.Store, (*store.View).WorkunitHistory, 1)
	told := ""
	for _, e := range history {
		if strings.Contains(e.Move, "retries") {
			told = e.By + ", " + e.Why + ", " + e.Move
		}
	}
	if want := "operator, work retry: version 1.00 was withdrawn, error_mask 10 → 0, assimilate_state done → init, retries 0 → 1"; told != want {
		t.Errorf("history: got %q, want %q", told, want)
	}
	if got := w.retry(operate.RetrySpec{IDs: []int64{1}, Again: true}); got.Refused[transitioner.NotGivenUp] != 1 {
		t.Errorf("with a canonical result: %+v", got)
	}
}

// A result that could not be sent is sent once that is possible. Without its files it is not sent.
func TestRetryOfWhatCouldNotBeSent(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "max_infeasible = 0", "max_infeasible = 1", keepFiles, keepFiles)
	w.setUp()
	w.create(workgen.Params{Name: "wu", RscDiskBound: 1e10}, "hello")
	w.user("a@example.org")
	small := &client{w: w, key: w.earn("a@example.org"), name: "small", disk: 1e9}
	small.fetch()
	w.step()
	if _, info := w.outcome("wu"); len(info.Errors) != 1 {
		t.Fatalf("outcome %+v", info)
	}
	if got := w.retry(operate.RetrySpec{App: "upper", Errors: store.ErrorCouldntSend, Again: true}); got.Workunits != 1 {
		t.Fatalf("got %+v", got)
	}
	large := &client{w: w, key: w.user("b@example.org"), name: "large", disk: 1e12}
	if got := large.fetch(); len(got.Results) != 1 || got.Results[0].Name != "wu_1" {
		t.Errorf("got %+v", got.Results)
	}

	w = newWorld(t)
	w.setUp()
	w.create(workgen.Params{Name: "wu", MaxErrorResults: 1, MaxTotalResults: 1}, "hello")
	(&client{w: w, key: w.user("a@example.org"), name: "a"}).fail()
	w.ahead = 49 * time.Hour
	w.step()
	if got := w.retry(operate.RetrySpec{IDs: []int64{1}, Again: true}); got.Refused[transitioner.FilesGone] != 1 {
		t.Errorf("got %+v", got)
	}
}
