package agent_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/agent/statetest"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/state"
)

// A detach and an attach are atomic, even if account files are read at the same time: no file
// counts as lost.
func TestDetachingWhileFilesAreRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t, demoURL, withMaster(t, demoURL), waiting)
	w.run(func(t *testing.T) {
		w.after(t, time.Second)
		stop := make(chan struct{})
		var readers sync.WaitGroup
		for range 2 {
			readers.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
						_ = w.a.Reload(t.Context())
					}
				}
			})
		}
		defer readers.Wait()
		defer close(stop)
		for range 60 {
			must(t, w.a.Detach(t.Context(), demoURL))
			if p := w.project(t, 0); !p.Disconnected {
				t.Fatalf("after a detach: %q", p.Ending)
			}
			must(t, w.a.Attach(t.Context(), demoURL, "00000000000000000000000000000001"))
			if p := w.project(t, 0); p.Ending != "" {
				t.Fatalf("after an attach: %q", p.Ending)
			}
		}
	})
}

// leaving are the ways to end a project at once, and whether it starts over.
var leaving = []struct {
	name  string
	do    func(t *testing.T, w *world) error
	again bool
}{
	{"detached", func(t *testing.T, w *world) error { return w.a.Detach(t.Context(), demoURL) }, false},
	{"reset", func(t *testing.T, w *world) error {
		return w.a.SteerProject(t.Context(), demoURL, control.ResetProject)
	}, true},
}

// withFiles puts a project into the state that has a task and two files.
func withFiles(db *state.DB, tx *state.Tx) {
	waiting(db, tx)
	p, _ := db.Projects.Get(demoURL)
	p.CodeSignKey = "key"
	db.Projects.Put(tx, demoURL, p)
	u, _ := db.Units.Get(state.Key(demoURL, "w"))
	for _, name := range []string{"in_1", "in_2"} {
		u.FileRefs = append(u.FileRefs, protocol.FileRef{FileName: name})
		db.Files.Put(tx, state.Key(demoURL, name), state.File{Project: demoURL, FileInfo: protocol.FileInfo{Name: name, NBytes: 5}, Local: state.FilePresent})
	}
	db.Units.Put(tx, state.Key(demoURL, "w"), u)
}

// over checks the state in a folder after a project has ended.
func over(t *testing.T, dir string, again bool) {
	t.Helper()
	db := statetest.Open(t, dir)
	p, ok := db.Projects.Get(demoURL)
	if ok != again || db.Results.Len()+db.Units.Len()+db.Files.Len() > 0 {
		t.Errorf("project %v, %d results, %d workunits, %d files", ok, db.Results.Len(), db.Units.Len(), db.Files.Len())
	}
	if again && (p.HostID != 111 || p.CodeSignKey != "key" || p.Ending.Kind != "") {
		t.Errorf("it starts over with host %d, key %q, %+v", p.HostID, p.CodeSignKey, p.Ending)
	}
}

// When files of a project cannot be removed, that is tried again, and its records stay until then.
// So an agent that crashes in between leaves nothing behind either.
func TestFilesOfAProjectThatCannotBeRemoved(t *testing.T) {
	t.Parallel()
	for _, leave := range leaving {
		for _, crash := range []bool{false, true} {
			w := newWorld(t, demoURL, withMaster(t, demoURL), withFiles)
			w.file("app_info.xml", ownInfo)
			w.file("in_2", "hello")
			must(t, os.MkdirAll(w.folder("in_1/full"), 0o700))
			w.run(func(t *testing.T) {
				w.after(t, time.Second)
				must(t, leave.do(t, w))
				must(t, w.a.SteerProject(t.Context(), demoURL, control.FinishProject))
				s := w.after(t, 5*time.Minute+30*time.Second)
				if len(s.Projects) != 1 || len(s.Tasks) != 1 || w.lies("in_2") {
					t.Errorf("%s: while it fails: %+v, %+v", leave.name, s.Projects, s.Tasks)
				}
				if crash { // as if it had saved nothing at its end
					saved, err := os.ReadFile(filepath.Join(w.dir, "state.db"))
					must(t, err)
					w.stop()
					must(t, os.WriteFile(filepath.Join(w.dir, "state.db"), saved, 0o600))
				}
				must(t, os.RemoveAll(w.folder("in_1/full")))
				if crash {
					w.start(t)
				}
				if s := w.after(t, 90*time.Second); len(s.Tasks) > 0 || (len(s.Projects) == 1) != leave.again {
					t.Errorf("%s: afterwards: %+v, %+v", leave.name, s.Projects, s.Tasks)
				}
			})
			over(t, w.dir, leave.again)
			if w.lies("in_1") || !w.lies("app_info.xml") {
				t.Errorf("%s: a file of the project is left, or the volunteer's file is gone", leave.name)
			}
		}
	}
}

// Files that cannot be removed do not keep a project forever.
func TestFilesOfAProjectThatStay(t *testing.T) {
	t.Parallel()
	for _, leave := range leaving {
		w := newWorld(t, demoURL, withMaster(t, demoURL), withFiles)
		w.file("app_info.xml", ownInfo)
		must(t, os.MkdirAll(w.folder("in_1/full"), 0o700))
		w.run(func(t *testing.T) {
			w.after(t, time.Second)
			must(t, leave.do(t, w))
			must(t, w.a.SteerProject(t.Context(), demoURL, control.FinishProject))
			w.after(t, 12*time.Minute)
		})
		over(t, w.dir, leave.again)
	}
}

// A crash after a project's folder was removed is harmless: the next agent completes the ending.
func TestCrashAfterAProjectsFolderWasRemoved(t *testing.T) {
	t.Parallel()
	for _, leave := range leaving {
		w := newWorld(t, demoURL, withMaster(t, demoURL), withFiles)
		w.file("in_1", "hello")
		w.file("in_2", "hello")
		w.run(func(t *testing.T) {
			w.after(t, time.Second)
			must(t, leave.do(t, w))
			w.after(t, 4*time.Minute)
			w.stop()
			must(t, os.RemoveAll(w.folder(".")))
			w.start(t)
			w.after(t, 2*time.Minute)
		})
		over(t, w.dir, leave.again)
		if _, err := os.Stat(w.folder(".")); err == nil {
			t.Errorf("%s: its folder is left", leave.name)
		}
	}
}

// A reset is one change: whenever the agent crashes, the project has its host ID and its key.
func TestAResetIsOneChange(t *testing.T) {
	t.Parallel()
	w := newWorld(t, demoURL, withMaster(t, demoURL), withFiles)
	w.file("in_1", "hello")
	copied := t.TempDir()
	w.logged = func(msg string) {
		if msg != "project reset" {
			return
		}
		saved, err := os.ReadFile(filepath.Join(w.dir, "state.db"))
		if err == nil {
			err = os.WriteFile(filepath.Join(copied, "state.db"), saved, 0o600)
		}
		if err != nil {
			t.Error(err)
		}
	}
	w.run(func(t *testing.T) {
		w.after(t, time.Second)
		must(t, w.a.SteerProject(t.Context(), demoURL, control.ResetProject))
		w.after(t, 6*time.Minute)
	})
	over(t, copied, true)
	over(t, w.dir, true)
}

// A project with the same folder as one that is being detached waits for its end, which is immediate.
func TestAttachingWithAnotherScheme(t *testing.T) {
	t.Parallel()
	next := strings.Replace(demoURL, "http://", "https://", 1)
	w := newWorld(t, demoURL, withMaster(t, demoURL), waiting)
	w.run(func(t *testing.T) {
		w.after(t, time.Second)
		must(t, w.a.Detach(t.Context(), demoURL))
		must(t, w.a.Attach(t.Context(), next, "00000000000000000000000000000002"))
		if s := w.after(t, time.Minute); len(s.Projects) != 1 || s.Projects[0].MasterURL != next || len(s.Tasks) > 0 {
			t.Errorf("%+v %+v", s.Projects, s.Tasks)
		}
	})
}
