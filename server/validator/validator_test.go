package validator

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/blob"
	"github.com/starling-grid/starling/server/credit"
	"github.com/starling-grid/starling/server/hook"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/store/storetest"
)

// The test's own program is the project's validator.
func TestMain(m *testing.M) {
	if says, ok := os.LookupEnv("VALIDATOR_SAYS"); ok {
		fmt.Print(says)
		if says == "" {
			os.Exit(1)
		}
		os.Exit(0)
	}
	if folder, ok := os.LookupEnv("VALIDATOR_MEETS"); ok {
		if err := meeting(folder); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// A world is a workunit with results that have been reported.
type world struct {
	t     *testing.T
	v     *Validator
	files *blob.Dir
	made  storetest.World
	wu    store.Workunit
	now   time.Time
}

func newWorld(t *testing.T, quorum int, outputs ...string) *world {
	t.Helper()
	return newWorldOf(t, quorum, func(storetest.World, *store.Workunit) {}, outputs...)
}

// newWorldOf is newWorld with a change of the workunit.
func newWorldOf(t *testing.T, quorum int, change func(storetest.World, *store.Workunit), outputs ...string) *world {
	t.Helper()
	dir := t.TempDir()
	st := storetest.Open(t, dir)
	files, err := blob.Open(filepath.Join(dir, "upload"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = files.Close() })
	w := &world{t: t, files: files, now: storetest.T0, v: &Validator{Store: st, Log: slog.New(slog.DiscardHandler)}}
	w.v.Clock = func() time.Time { return w.now } // the time of programs does not count
	w.use("bitwise")
	w.made = storetest.Fill(t, st)
	wu := w.made.Workunit("wu")
	wu.MinQuorum, wu.TargetNResults, wu.TransitionTime = quorum, len(outputs), store.Never
	change(w.made, &wu)
	wu, _ = storetest.Add(t, st, wu, 0)
	w.update(func(tx *store.Tx) error {
		for i, out := range outputs {
			if err := w.report(tx, wu, i, out); err != nil {
				return err
			}
		}
		return nil
	})
	w.wu.ID = wu.ID
	w.ask()
	return w
}

// report inserts a result that a host has reported, with an output.
func (w *world) report(tx *store.Tx, wu store.Workunit, i int, out string) error {
	x, err := w.sent(tx, wu, i)
	if err != nil {
		return err
	}
	return w.reported(tx, x, out)
}

// sent inserts a result that a host is computing.
func (w *world) sent(tx *store.Tx, wu store.Workunit, i int) (x store.Result, err error) {
	name := fmt.Sprintf("%s_%d", wu.Name, i)
	id, err := storetest.InsertResult(tx, store.Result{
		WorkunitID: wu.ID, AppID: wu.AppID, Name: name, ServerState: store.Unsent,
		XMLDocIn: protocol.Result{Name: name, FileRefs: []protocol.FileRef{{FileName: name + "_r1_0", OpenName: "out"}}}.XML(),
	})
	if err != nil {
		return x, err
	}
	if x, err = tx.Result(id); err != nil {
		return x, err
	}
	x.HostID, x.UserID, x.SentTime, x.ReportDeadline = w.made.Host.ID, w.made.User.ID, w.now, w.now.Add(time.Hour)
	if err := tx.Send(x); err != nil {
		return x, err
	}
	return tx.Result(id)
}

// reported stores that a host has reported a result, with an output.
func (w *world) reported(tx *store.Tx, old store.Result, out string) error {
	x := old
	x.ServerState, x.Outcome, x.ReceivedTime = store.Over, store.Success, w.now
	if err := tx.SaveResult(old, x); err != nil || out == "-" {
		return err
	}
	_, err := w.files.Put(w.t.Context(), old.Name+"_r1_0", strings.NewReader(out))
	return err
}

func (w *world) update(fn func(tx *store.Tx) error) {
	w.t.Helper()
	if err := w.v.Store.Update(w.t.Context(), fn); err != nil {
		w.t.Fatal(err)
	}
}

// use chooses the validator. "exec" is a program with the answer in VALIDATOR_SAYS.
func (w *world) use(name string) {
	w.v.Checker = func(context.Context, int64) (Checker, error) {
		if name != "exec" {
			return New(name, Env{Files: w.files})
		}
		exe, err := os.Executable()
		return program{hook.Command{Args: []string{exe}}, Env{Files: w.files, App: "upper"}}, err
	}
}

// ask acts like the transitioner when a result is to be validated.
func (w *world) ask() {
	w.t.Helper()
	w.update(func(tx *store.Tx) error {
		return store.Change(tx.Workunit, w.wu.ID, tx.SaveWorkunit, func(wu *store.Workunit) {
			wu.NeedValidate, wu.TransitionTime = true, store.Never
		})
	})
}

// pass runs the validator and returns the states of the results: a letter each, upper case for one
// with credit.
func (w *world) pass() string {
	w.t.Helper()
	if _, err := w.v.Pass(w.t.Context(), w.now); err != nil {
		w.t.Fatal(err)
	}
	got := ""
	w.update(func(tx *store.Tx) (err error) {
		if w.wu, err = tx.Workunit(w.wu.ID); err != nil {
			return err
		}
		results, err := tx.ResultsOf(w.wu.ID)
		for _, r := range results {
			s := string("?vin~t"[r.ValidateState])
			if r.Outcome == store.ValidateError {
				s = "e"
			}
			if r.GrantedCredit > 0 {
				s = strings.ToUpper(s)
			}
			got += s
		}
		return err
	})
	return got
}

func TestPass(t *testing.T) {
	for _, tt := range []struct {
		name, validator, says string
		quorum                int
		outputs               []string
		want                  string
		canonical             bool
		retry                 time.Duration // 0: not put off
	}{
		{"bitwise", "bitwise", "", 2, []string{"a", "b", "a"}, "ViV", true, 0},
		{"output that never came", "bitwise", "", 2, []string{"a", "-", "a"}, "VeV", true, 0},
		{"no agreement", "bitwise", "", 2, []string{"a", "b"}, "~~", false, 0},
		{"numeric", "numeric:0.1", "", 2, []string{"1", "5", "1.05"}, "ViV", true, 0},
		{
			"a program", "exec", `{"canonical": "wu_1", "results": {"wu_0": "invalid", "wu_1": "valid", "wu_2": "error"}}`,
			2,
			[]string{"a", "b", "c"},
			"iVe", true, 0,
		},
		{
			"a program sees no agreement", "exec", `{"results": {"wu_0": "inconclusive", "wu_1": "inconclusive"}}`,
			2,
			[]string{"a", "b"},
			"~~", false, 0,
		},
		{"a program is not asked about too few", "exec", "nonsense", 2, []string{"a", "-"}, "~e", false, 0},
		{"a program that fails says nothing", "exec", "", 2, []string{"a", "a"}, "??", false, again},
		{"nor does nonsense", "exec", "yes", 2, []string{"a", "a"}, "??", false, again},
		{"nor a verdict short", "exec", `{"results": {"wu_0": "error"}}`, 2, []string{"a", "a"}, "??", false, again},
		{
			"nor a stranger's result", "exec", `{"canonical": "x_0", "results": {"wu_0": "valid", "wu_1": "valid"}}`,
			2,
			[]string{"a", "a"},
			"??", false, again,
		},
		{
			"nor valid ones without a canonical one", "exec", `{"results": {"wu_0": "valid", "wu_1": "valid"}}`,
			2,
			[]string{"a", "a"},
			"??", false, again,
		},
		{
			"nor a canonical one that is wrong", "exec", `{"canonical": "wu_0", "results": {"wu_0": "invalid", "wu_1": "valid"}}`,
			2,
			[]string{"a", "a"},
			"??", false, again,
		},
		{
			"nor a verdict too many", "exec", `{"canonical": "wu_0", "results": {"wu_0": "valid", "wu_9": "valid"}}`,
			1,
			[]string{"a"},
			"?", false, again,
		},
		{
			"nor a word that is none", "exec", `{"canonical": "wu_0", "results": {"wu_0": "good"}}`,
			1,
			[]string{"a"},
			"?", false, again,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("VALIDATOR_SAYS", tt.says)
			w := newWorld(t, tt.quorum, tt.outputs...)
			w.use(tt.validator)
			got := w.pass()
			at := store.Never
			switch {
			case tt.retry > 0:
				at = w.now.Add(tt.retry)
			case !tt.canonical || strings.ContainsAny(tt.want, "ie"):
				at = w.now
			}
			if got != tt.want || (w.wu.CanonicalResultID != 0) != tt.canonical || w.wu.NeedValidate || !w.wu.TransitionTime.Equal(at) {
				t.Errorf("got %s, want %s; %+v", got, tt.want, w.wu)
			}
			told, err := store.Read(t.Context(), w.v.Store, (*store.View).Troubles)
			if err != nil || len(told) > 0 != (tt.retry > 0) || len(told) > 0 && !told[0].Retry.Equal(at) {
				t.Errorf("the operator reads %+v, %v", told, err)
			}
		})
	}
}

// A result that the program finds suspicious waits for one of a trusted account, which decides. The
// others are compared with it.
func TestATrustedAccountHasTheLastWord(t *testing.T) {
	w := newWorld(t, 2, "a", "a")
	w.use("exec")
	t.Setenv("VALIDATOR_SAYS", `{"results": {"wu_0": "suspicious", "wu_1": "inconclusive"}}`)
	if got := w.pass(); got != "~~" || !w.wu.Suspicious || w.wu.TargetNResults != 3 || !w.wu.TransitionTime.Equal(w.now) {
		t.Fatalf("got %s, %+v", got, w.wu)
	}
	report := func(i int, out string) {
		w.update(func(tx *store.Tx) error { return w.report(tx, w.wu, i, out) })
		w.ask()
	}
	w.made.User = w.account("b@example.org", false)
	report(2, "a")
	if got := w.pass(); got != "~~~" || w.wu.CanonicalResultID != 0 || w.wu.TargetNResults != 4 {
		t.Fatalf("after another that agrees: %s, %+v", got, w.wu)
	}
	w.made.User = w.account("c@example.org", true)
	report(3, "-")
	if got := w.pass(); got != "~~~e" || w.wu.CanonicalResultID != 0 {
		t.Fatalf("after one of a trusted account without its output: %s, %+v", got, w.wu)
	}
	report(4, "b")
	if got := w.pass(); got != "~~~eV" || w.wu.CanonicalResultID == 0 {
		t.Fatalf("after one of a trusted account: %s, %+v", got, w.wu)
	}
	w.ask()
	t.Setenv("VALIDATOR_SAYS", `{"results": {"wu_0": "valid", "wu_1": "invalid", "wu_2": "suspicious"}}`)
	if got := w.pass(); got != "~~~eV" {
		t.Fatalf("a suspicious one beside the canonical one: %s", got)
	}
	w.ask()
	t.Setenv("VALIDATOR_SAYS", `{"results": {"wu_0": "valid", "wu_1": "invalid", "wu_2": "invalid"}}`)
	if got := w.pass(); got != "ViieV" {
		t.Errorf("in the end: %s", got)
	}
}

// A result of a trusted account is not suspected: it decides at once.
func TestATrustedAccountIsNotSuspected(t *testing.T) {
	w := newWorld(t, 1, "a")
	w.use("exec")
	w.update(func(tx *store.Tx) error {
		return store.Change(tx.User, w.made.User.ID, tx.SaveUser, func(u *store.User) { u.Trusted = true })
	})
	t.Setenv("VALIDATOR_SAYS", `{"results": {"wu_0": "suspicious"}}`)
	if got := w.pass(); got != "V" {
		t.Errorf("got %s, %+v", got, w.wu)
	}
}

// No other account can decide about work for one account, so that the verdict is refused.
func TestWorkForOneAccountIsNotSuspicious(t *testing.T) {
	w := newWorldOf(t, 1, func(made storetest.World, wu *store.Workunit) {
		wu.Target = store.Target{Type: store.TargetUser, ID: made.User.ID}
	}, "a")
	var said strings.Builder
	w.v.Log = slog.New(slog.NewTextHandler(&said, nil))
	w.v.Checker = func(context.Context, int64) (Checker, error) { return Comparing(doubting{}), nil }
	if got := w.pass(); got != "?" || !strings.Contains(said.String(), "for one computer or account alone, which is not trusted") {
		t.Errorf("got %s, log %s", got, said.String())
	}
}

// A comparator may find outputs suspicious, too, even if they agree.
func TestAComparatorDoubts(t *testing.T) {
	w := newWorld(t, 2, "a", "a")
	w.v.Checker = func(context.Context, int64) (Checker, error) { return Comparing(doubting{}), nil }
	if got := w.pass(); got != "~~" || !w.wu.Suspicious {
		t.Fatalf("got %s, %+v", got, w.wu)
	}
	w.made.User = w.account("c@example.org", true)
	w.update(func(tx *store.Tx) error { return w.report(tx, w.wu, 2, "a") })
	for _, want := range []string{"~~V", "VVV"} {
		w.ask()
		if got := w.pass(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// doubting doubts all outputs, and all match.
type doubting struct{}

func (doubting) Load(context.Context, store.Result) (any, error) { return nil, ErrSuspicious }
func (doubting) Match(_, _ any) bool                             { return true }

// account adds an account.
func (w *world) account(email string, trusted bool) (u store.User) {
	w.update(func(tx *store.Tx) error {
		id, err := tx.InsertUser(store.User{EmailAddr: email, Authenticator: protocol.Authenticator(fmt.Sprintf("%32s", email)), CrossProjectID: email})
		if err == nil {
			err = store.Change(tx.User, id, tx.SaveUser, func(u *store.User) { u.Trusted = trusted })
		}
		if err == nil {
			u, err = tx.User(id)
		}
		return err
	})
	return u
}

func TestAfterATroubleItIsTriedAgain(t *testing.T) {
	t.Setenv("VALIDATOR_SAYS", "")
	w := newWorld(t, 1, "a")
	w.use("exec")
	for _, want := range []time.Duration{again, 2 * again, 4 * again} {
		if got := w.pass(); got != "?" || w.wu.TransitionTime.Sub(w.now) != want {
			t.Errorf("%s, again after %v, want %v", got, w.wu.TransitionTime.Sub(w.now), want)
		}
		w.ask()
	}
	t.Setenv("VALIDATOR_SAYS", `{"canonical": "wu_0", "results": {"wu_0": "valid"}}`)
	if got := w.pass(); got != "V" {
		t.Errorf("got %s", got)
	}
}

// While the database cannot be reached, no workunit is put off for that.
func TestNoWorkunitIsBlamedForTheDatabase(t *testing.T) {
	w := newWorld(t, 1, "a")
	good, away := w.v.Checker, fmt.Errorf("app 1: %w", store.ErrUnreachable)
	w.v.Checker = func(context.Context, int64) (Checker, error) { return nil, away }
	if n, err := w.v.Pass(t.Context(), w.now); n != 0 || !errors.Is(err, store.ErrUnreachable) {
		t.Errorf("handled %d, %v", n, err)
	}
	w.v.Checker = good
	if got := w.pass(); got != "V" {
		t.Errorf("once it can be reached: %s, %+v", got, w.wu)
	}
}

// A result that comes after the canonical one was found is compared with that.
func TestLateResults(t *testing.T) {
	w := newWorld(t, 2, "a", "a", "x", "a")
	w.update(func(tx *store.Tx) error {
		results, err := tx.ResultsOf(w.wu.ID)
		if err != nil {
			return err
		}
		old := results[0]
		x := old
		x.ValidateState, x.GrantedCredit = store.Valid, 5
		if err := tx.SaveResult(old, x); err != nil {
			return err
		}
		return store.Change(tx.Workunit, w.wu.ID, tx.SaveWorkunit, func(after *store.Workunit) {
			after.CanonicalResultID, after.CanonicalCredit = x.ID, 5
		})
	})
	w.use("exec")
	t.Setenv("VALIDATOR_SAYS", `{"results": {"wu_1": "inconclusive", "wu_2": "invalid", "wu_3": "valid"}}`)
	if got := w.pass(); got != "V???" || !w.wu.TransitionTime.Equal(w.now.Add(again)) {
		t.Errorf("got %s, again at %v", got, w.wu.TransitionTime)
	}
	w.ask()
	w.use("bitwise")
	if got := w.pass(); got != "VViV" || !w.wu.TransitionTime.Equal(w.now) {
		t.Errorf("got %s, transition at %v", got, w.wu.TransitionTime)
	}
}

// Several results of one host in one transaction earn the same as one by one. The energy of those that
// get credit is added up, also of a late one, and not of a wrong one.
func TestCreditAddsUp(t *testing.T) {
	w := newWorld(t, 2, "a", "a", "a")
	energy := []float64{1.5, 0, 2, 0.25, 9} // the second host shares none
	var late [2]store.Result
	w.update(func(tx *store.Tx) error {
		wu, err := tx.Workunit(w.wu.ID)
		for i := range late {
			r, failed := w.sent(tx, wu, 3+i)
			late[i], err = r, errors.Join(err, failed)
		}
		return err
	})
	w.setEnergy(energy)
	if got := w.pass(); got != "VVV??" {
		t.Fatalf("got %s", got)
	}
	err := w.v.Store.View(t.Context(), func(tx *store.View) error {
		results, err := tx.ResultsOf(w.wu.ID)
		if err != nil {
			return err
		}
		h, err := tx.Host(results[0].HostID)
		if err != nil {
			return err
		}
		u, err := tx.User(results[0].UserID)
		sum, recent := 0.0, 0.0
		for i, r := range results[:3] {
			sum += r.GrantedCredit
			last := w.now
			if i == 0 {
				last = time.Time{}
			}
			recent = credit.Average(recent, last, w.now, r.GrantedCredit)
		}
		if sum <= 0 || h.TotalCredit != sum || u.TotalCredit != sum {
			t.Errorf("host has %v, user %v, results %v", h.TotalCredit, u.TotalCredit, sum)
		}
		if h.ExpavgCredit != recent || u.ExpavgCredit != recent {
			t.Errorf("recent average of host %v, of user %v, want %v", h.ExpavgCredit, u.ExpavgCredit, recent)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	w.hasEnergy(store.CreditedEnergy{Results: 2, Wh: 3.5, Credit: 2 * w.wu.CanonicalCredit})
	w.update(func(tx *store.Tx) error {
		for i, out := range []string{"a", "x"} {
			r, err := tx.Result(late[i].ID)
			if err = errors.Join(err, w.reported(tx, r, out)); err != nil {
				return err
			}
		}
		return nil
	})
	w.ask()
	if got := w.pass(); got != "VVVVi" {
		t.Fatalf("got %s", got)
	}
	w.hasEnergy(store.CreditedEnergy{Results: 3, Wh: 3.75, Credit: 3 * w.wu.CanonicalCredit})
}

// setEnergy sets the energy of results, in their order.
func (w *world) setEnergy(wh []float64) {
	w.t.Helper()
	w.update(func(tx *store.Tx) error {
		results, err := tx.ResultsOf(w.wu.ID)
		if err != nil {
			return err
		}
		for i, old := range results {
			r := old
			r.EnergyWh = wh[i]
			if r != old {
				err = errors.Join(err, tx.SaveResult(old, r))
			}
		}
		return err
	})
}

// hasEnergy checks the sum of the application.
func (w *world) hasEnergy(want store.CreditedEnergy) {
	w.t.Helper()
	w.update(func(tx *store.Tx) error {
		sums, err := tx.CreditedEnergies()
		if got := sums[w.made.App.ID]; got != want || len(sums) != 1 {
			w.t.Errorf("got %+v, want %+v", sums, want)
		}
		return err
	})
}
