package assimilator_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/assimilator"
	"github.com/starling-grid/starling/server/hook"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/store/storetest"
	"github.com/starling-grid/starling/server/transitioner"
)

// The test's program is also the project's program: it writes its input to a file.
func TestMain(m *testing.M) {
	if name := os.Getenv("ASSIMILATOR"); name != "" {
		b, err := io.ReadAll(os.Stdin)
		if err != nil || os.WriteFile(name, b, 0o600) != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestProgram(t *testing.T) {
	dir := t.TempDir()
	st := storetest.Open(t, dir)
	files := openFiles(t, dir)
	if _, err := files.Put(t.Context(), "out_r1_0", strings.NewReader("answer")); err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	must(t, err)
	a := &assimilator.Assimilator{
		Taken: new(transitioner.Transitioner).Taken,
		Store: st, Log: slog.New(slog.DiscardHandler),
		Handler: func(context.Context, int64) (assimilator.Handler, error) {
			return assimilator.Program{Command: hook.Command{Args: []string{exe}, Dir: dir}, App: "upper", Files: files}, nil
		},
	}
	w := storetest.Fill(t, st)
	now := storetest.T0
	add := func(name string, mask store.ErrorMask) (id int64) {
		wu, _ := storetest.Add(t, st, w.Workunit(name), 0)
		storetest.Update(t, st, func(tx *store.Tx) error {
			id, err := storetest.InsertResult(tx, store.Result{
				WorkunitID: wu.ID, AppID: wu.AppID, Name: name + "_0", ServerState: store.Unsent,
				XMLDocIn: protocol.Result{Name: name + "_0", FileRefs: []protocol.FileRef{{FileName: "out_r1_0", OpenName: "out"}}}.XML(),
			})
			if err != nil {
				return err
			}
			after := wu
			after.AssimilateState, after.ErrorMask = store.AssimilateReady, mask
			if mask == 0 {
				after.CanonicalResultID = id
			}
			return tx.SaveWorkunit(wu, after)
		})
		return wu.ID
	}
	state := func(id int64) store.Workunit {
		return storetest.Get(t, st, (*store.View).Workunit, id)
	}
	pass := func(want int) {
		t.Helper()
		if n, err := a.Pass(t.Context(), now); n != want || err != nil {
			t.Errorf("handled %d, %v; want %d", n, err, want)
		}
	}
	type told struct {
		Workunit struct {
			Name      string
			ErrorMask int `json:"error_mask"`
			Errors    []string
		}
		Canonical *struct {
			Name  string
			Files []struct{ Name, Path string }
		}
		Results []struct{ Name string }
	}
	read := func(name string) (x told) {
		b, err := os.ReadFile(name)
		if err == nil {
			err = json.Unmarshal(b, &x)
		}
		must(t, err)
		return x
	}

	good := add("good", 0)
	t.Setenv("ASSIMILATOR", filepath.Join(dir, "nowhere", "x"))
	pass(0)
	taken := filepath.Join(dir, "taken")
	t.Setenv("ASSIMILATOR", taken)
	pass(0) // not before a minute has passed
	if state(good).AssimilateState != store.AssimilateReady {
		t.Error("a program that failed has taken an outcome")
	}
	now = now.Add(time.Minute)
	pass(1)
	if wu := state(good); wu.AssimilateState != store.AssimilateDone || !wu.TransitionTime.Equal(now) {
		t.Errorf("got %+v", wu)
	}
	x := read(taken)
	if x.Workunit.Name != "good" || x.Canonical == nil || x.Canonical.Name != "good_0" || len(x.Canonical.Files) != 1 || len(x.Results) != 1 {
		t.Fatalf("told %+v", x)
	}
	if b, err := os.ReadFile(x.Canonical.Files[0].Path); err != nil || string(b) != "answer" || x.Canonical.Files[0].Name != "out" {
		t.Errorf("%+v: %q, %v", x.Canonical.Files[0], b, err)
	}
	pass(0)

	add("bad", store.ErrorTooManyErrors)
	pass(1)
	if x := read(taken); x.Canonical != nil || x.Workunit.ErrorMask != 2 || x.Workunit.Errors[0] != "too many error results" {
		t.Errorf("told %+v", x)
	}
}
