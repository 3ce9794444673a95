package state_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/state"
)

const project = "http://p.example/x/"

func open(t *testing.T, path string) *state.DB {
	t.Helper()
	db, err := state.Open(path)
	must(t, err)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func TestWhatWasSavedIsThereAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	db := open(t, path)
	res := state.Result{
		Project: project, Slot: 1, State: protocol.ClientDownloaded,
		Result:   protocol.Result{Name: "r_0", WorkunitName: "r", FileRefs: []protocol.FileRef{{FileName: "r_0_0", OpenName: "out"}}},
		Received: time.Unix(1e9, 0).UTC(), Checkpoint: state.Checkpoint{Fraction: 0.5, CPUTime: time.Minute},
	}
	key := state.Key(project, "r_0")
	if err := db.Update(func(tx *state.Tx) {
		db.Results.Put(tx, key, res)
		db.Results.Put(tx, state.Key("http://other.example/", "r_0"), res)
		db.Units.Put(tx, state.Key(project, "gone"), state.Workunit{})
		db.Units.Delete(tx, state.Key(project, "gone"))
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := state.Open(path); !errors.Is(err, state.ErrInUse) {
		t.Errorf("a second agent: got %v, want ErrInUse", err)
	}
	must(t, db.Close())
	db = open(t, path)
	got, ok := db.Results.Get(key)
	if !ok || got.Name != "r_0" || got.Slot != 1 || !got.Received.Equal(res.Received) || got.Checkpoint != res.Checkpoint || got.FileRefs[0] != res.FileRefs[0] {
		t.Errorf("got %+v", got)
	}
	n := 0
	for range db.Results.Of(project) {
		n++
	}
	if n != 1 || db.Results.Len() != 2 || db.Units.Len() != 0 {
		t.Errorf("%d results of the project, %d in all, %d workunits", n, db.Results.Len(), db.Units.Len())
	}
}

func TestAFailedSaveChangesNothing(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "state.db"))
	key := state.Key(project, "r")
	must(t, db.Update(func(tx *state.Tx) { db.Results.Put(tx, key, state.Result{ExitStatus: 1}) }))
	if err := db.Close(); err != nil { // from now on nothing can be written
		t.Fatal(err)
	}
	err := db.Update(func(tx *state.Tx) {
		db.Results.Put(tx, key, state.Result{ExitStatus: 2})
		db.Results.Put(tx, key, state.Result{ExitStatus: 3})
		db.Results.Put(tx, state.Key(project, "new"), state.Result{})
	})
	must(t, db.Update(func(*state.Tx) {})) // writes nothing
	if err == nil || db.NotSaved() == nil {
		t.Fatal(err, db.NotSaved())
	}
	if r, _ := db.Results.Get(key); r.ExitStatus != 1 || db.Results.Len() != 1 {
		t.Errorf("memory has exit status %d and %d results, want 1 and 1", r.ExitStatus, db.Results.Len())
	}
}

// TestKill ends a writing process by SIGKILL repeatedly. Each time, the last number that it
// announced as saved, or a later one, must be there.
func TestKill(t *testing.T) {
	if path := os.Getenv("STATE_TEST_FILE"); path != "" {
		writeForever(path)
		return
	}
	if testing.Short() {
		t.Skip("starts processes")
	}
	path := filepath.Join(t.TempDir(), "state.db")
	for round := range 5 {
		cmd := exec.Command(os.Args[0], "-test.run=^TestKill$")
		cmd.Env = append(os.Environ(), "STATE_TEST_FILE="+path)
		out, err := cmd.StdoutPipe()
		must(t, err)
		must(t, cmd.Start())
		said := make([]byte, 0, 1<<16)
		buf := make([]byte, 512)
		for len(said) < 300*(round+1) {
			n, err := out.Read(buf)
			must(t, err)
			said = append(said, buf[:n]...)
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		db, err := state.Open(path)
		must(t, err)
		a, _ := db.Results.Get("a")
		b, _ := db.Results.Get("b")
		if a.ExitStatus != b.ExitStatus {
			t.Errorf("half a transaction is there: %d and %d", a.ExitStatus, b.ExitStatus)
		}
		if last := lastLine(said); a.ExitStatus < last {
			t.Errorf("%d was announced as saved, %d is there", last, a.ExitStatus)
		}
		must(t, db.Close())
	}
}

func writeForever(path string) {
	db, err := state.Open(path)
	if err != nil {
		panic(err)
	}
	r, _ := db.Results.Get("a")
	for n := r.ExitStatus + 1; ; n++ {
		if err := db.Update(func(tx *state.Tx) {
			db.Results.Put(tx, "a", state.Result{ExitStatus: n})
			db.Results.Put(tx, "b", state.Result{ExitStatus: n})
		}); err != nil {
			panic(err)
		}
		_, _ = os.Stdout.WriteString(strconv.Itoa(n) + "\n")
	}
}

// lastLine returns the last whole number in out.
func lastLine(out []byte) int {
	n, last := 0, 0
	for _, c := range out {
		if c == '\n' {
			n, last = 0, n
		} else if c >= '0' && c <= '9' {
			n = n*10 + int(c-'0')
		}
	}
	return last
}

func TestEveryStateAndEventIsDecided(t *testing.T) {
	final := map[protocol.ClientState]bool{
		protocol.ClientComputeError: true, protocol.ClientUploaded: true,
		protocol.ClientAborted: true, protocol.ClientUploadFailed: true,
	}
	for s := protocol.ClientNew; s <= protocol.ClientUploadFailed; s++ {
		moves := 0
		for e := state.FilesNeeded; e <= state.AbortRequested; e++ {
			next, ok := state.Next(s, e)
			if !ok {
				continue
			}
			moves++
			if next < s && e != state.FilesNeeded {
				t.Errorf("%v: %v leads back to %v", s, e, next)
			}
			if e == state.AbortRequested && next != protocol.ClientAborted {
				t.Errorf("%v: an abort leads to %v", s, next)
			}
		}
		if final[s] != (moves == 0) {
			t.Errorf("%v has %d ways on", s, moves)
		}
	}
}
