package server_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/operate"
	"github.com/starling-grid/starling/server/workgen"
)

func TestFromWorkunitToCredit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.setUp()
	a := &client{w: w, key: w.user("a@example.org"), name: "a"}
	b := &client{w: w, key: w.user("b@example.org"), name: "b"}
	w.create(workgen.Params{Name: "wu", MinQuorum: 2, RscFpopsEst: 4.32e13}, "hello")
	work := a.fetch()
	if len(work.Results) != 1 {
		t.Fatalf("got %d results: %v", len(work.Results), work.Messages)
	}
	program := work.Files[0]
	if err := publicKey(t, w).VerifyText(a.download(program), program.Signature); err != nil || !program.Executable {
		t.Errorf("program %+v: %v", program, err)
	}
	a.compute(work)
	if st := w.status(); st.Workunits.Unfinished != 1 || st.Credit != 0 {
		t.Errorf("after one of two: %+v", st.Workunits)
	}
	b.compute(b.fetch())
	st := w.status()
	if !st.Done || st.Workunits.Canonical != 1 || st.Results.ByValidateState["valid"] != 2 || st.Results.Granted != 2 {
		t.Errorf("at the end: %+v", st)
	}
	// A day of 1 GFLOPS is worth 200 cobblestones. This was half a day, computed twice.
	if st.Credit < 199.999 || st.Credit > 200.001 {
		t.Errorf("credit %v, want 200", st.Credit)
	}
	text, info := w.outcome("wu")
	if text != "HELLO" || info.Canonical.Result != "wu_0" || info.Canonical.Credit < 99.999 {
		t.Errorf("outcome %q, %+v", text, info)
	}
	if n := w.files(w.p.Upload); n != 0 {
		t.Errorf("%d output files are left", n)
	}
	if n := w.files(w.p.Download); n != 1 {
		t.Errorf("%d files are left to download, want the program", n)
	}
	if got := a.rpc(0).User.TotalCredit; got < 99.999 {
		t.Errorf("the client is told of credit %v", got)
	}
}

func TestAWrongResultIsOutvoted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "one_result_per_user_per_wu = false", "one_result_per_user_per_wu = true")
	w.setUp()
	w.create(workgen.Params{Name: "wu", MinQuorum: 2}, "hello")
	for i, wrong := range []string{"bogus", "", ""} {
		c := &client{w: w, key: w.user(fmt.Sprintf("%d@example.org", i)), name: fmt.Sprint(i), wrong: wrong}
		work := c.fetch()
		if len(work.Results) != 1 {
			t.Fatalf("client %d got %d results: %v", i, len(work.Results), work.Messages)
		}
		c.compute(work)
	}
	st := w.status()
	if !st.Done || st.Results.ByValidateState["valid"] != 2 || st.Results.ByValidateState["invalid"] != 1 || st.Results.Granted != 2 {
		t.Errorf("%+v", st)
	}
	if text, _ := w.outcome("wu"); text != "HELLO" {
		t.Errorf("outcome %q", text)
	}
}

func TestALateResultIsComparedAndRewarded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.setUp()
	w.create(workgen.Params{Name: "wu", TargetNResults: 2}, "hello")
	a := &client{w: w, key: w.user("a@example.org"), name: "a"}
	b := &client{w: w, key: w.user("b@example.org"), name: "b"}
	early, late := a.fetch(), b.fetch()
	a.compute(early)
	if st := w.status(); !st.Done || st.Results.ByServerState["in_progress"] != 1 || w.files(w.p.Upload) != 1 {
		t.Errorf("the canonical output must stay for the result that is out: %+v", st)
	}
	b.compute(late)
	if st := w.status(); st.Results.Granted != 2 || st.Workunits.FilesDeleted != 1 || w.files(w.p.Upload) != 0 {
		t.Errorf("%+v", st)
	}
}

// A client whose upload was refused for good reports success all the same.
func TestSuccessWithoutOutputIsNone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.setUp()
	w.create(workgen.Params{Name: "wu", MaxErrorResults: 1, MaxTotalResults: 3}, "hello")
	for _, name := range []string{"a", "b"} {
		c := &client{w: w, key: w.user(name + "@example.org"), name: name, lazy: true}
		c.compute(c.fetch())
	}
	st := w.status()
	if st.Results.ByOutcome["validate_error"] != 2 || st.Workunits.Error != 1 || !st.Done || st.Credit != 0 {
		t.Errorf("%+v", st)
	}
	if _, info := w.outcome("wu"); len(info.Errors) != 1 || info.Errors[0] != "too many error results" {
		t.Errorf("outcome %+v", info)
	}
}

func TestTimeOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.setUp()
	w.create(workgen.Params{Name: "wu", DelayBound: 60, RscFpopsEst: 1e6}, "hello")
	c := &client{w: w, key: w.user("a@example.org"), name: "a"}
	c.fetch()
	w.ahead = 2 * time.Minute
	w.step()
	st := w.status()
	if st.Results.ByOutcome["no_reply"] != 1 || st.Results.ByServerState["unsent"] != 1 {
		t.Errorf("%+v", st.Results)
	}
}

func TestSharedInputsStayForTheLast(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.setUp()
	w.create(workgen.Params{Name: "a"}, "same")
	w.create(workgen.Params{Name: "b"}, "same")
	c := &client{w: w, key: w.user("a@example.org"), name: "a"}
	work := c.fetch()
	if len(work.Results) != 1 {
		t.Fatalf("%d results", len(work.Results))
	}
	c.compute(work)
	if n := w.files(w.p.Download); n != 2 {
		t.Errorf("%d files, want program and input", n)
	}
	c.compute(c.fetch())
	if n := w.files(w.p.Download); n != 1 {
		t.Errorf("%d files, want the program", n)
	}
}

func TestWithoutItsTemplateAWorkunitWaits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.setUp()
	g, err := operate.Generator(t.Context(), w.p, "upper", w.now())
	w.must(err)
	_, err = g.Create(t.Context(), []workgen.Spec{{Params: workgen.Params{Name: "wu"}}}, w.now())
	w.must(err)
	path := filepath.Join(w.dir, "templates", "upper_out")
	w.must(os.Rename(path, path+".away"))
	w.step()
	w.must(os.Rename(path+".away", path))
	w.step()
	if n := w.status().Results.Total; n != 0 {
		t.Errorf("%d results before it is time to try again", n)
	}
	w.ahead = time.Hour
	w.step()
	if n := w.status().Results.Total; n != 1 {
		t.Errorf("%d results, want 1", n)
	}
}

// keepFiles is the default setting, which other tests do not use.
const keepFiles = "delete_delay_hours = 24"

// A volunteer whose computer was late is credited while there is something to compare
// with: by default a day from when the project took the outcome.
func TestLateResultIsCredited(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		settings []string
		late     time.Duration // after the deadline
		want     string
	}{
		{"within a day", []string{keepFiles, keepFiles}, 23 * time.Hour, "valid"},
		{"after two days", []string{keepFiles, keepFiles}, 48 * time.Hour, "too_late"},
		{"if files go at once", nil, time.Hour, "too_late"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, tt.settings...)
			w.setUp()
			w.create(workgen.Params{Name: "wu", TargetNResults: 3, MinQuorum: 2, DelayBound: 7 * 86400}, "hello")
			client := func(name string) *client { return &client{w: w, key: w.user(name + "@example.org"), name: name} }
			late := client("late")
			work := late.fetch()
			for _, name := range []string{"a", "b"} {
				c := client(name)
				c.compute(c.fetch())
			}
			w.ahead = 7*24*time.Hour + time.Minute // the deadline has passed, and the outcome is taken
			w.step()
			if st := w.status(); !st.Done || st.Results.ByOutcome["no_reply"] != 1 {
				t.Fatalf("got %+v, %+v", st.Workunits, st.Results)
			}
			w.ahead += tt.late
			w.step()
			late.upload(work.Files[len(work.Files)-1], "HELLO")
			late.rpc(0, protocol.ReportedResult{Name: work.Results[0].Name, State: protocol.ClientUploaded, FinalElapsedTime: time.Minute})
			w.step()
			if r := w.result(work.Results[0].Name); r.ValidateState.String() != tt.want || (r.GrantedCredit > 0) != (tt.want == "valid") {
				t.Errorf("got %v with credit %v, want %s", r.ValidateState, r.GrantedCredit, tt.want)
			}
			w.ahead += 48 * time.Hour
			w.step()
			if st := w.status(); st.Workunits.FilesDeleted != 1 || st.Results.WaitingFileDelete != 0 {
				t.Errorf("files stay: %+v", st.Workunits)
			}
		})
	}
}
