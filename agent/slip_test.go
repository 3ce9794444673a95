package agent_test

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/agent"
	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/internal/testwait"
	"github.com/starling-grid/starling/prefs"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/state"
)

// waiting puts a project into the state whose task waits for a file that does not exist.
func waiting(db *state.DB, tx *state.Tx) {
	db.Projects.Put(tx, demoURL, state.Project{
		MasterURL: demoURL, SchedulerURLs: []string{demoURL + "cgi"}, HostID: 111, RPCSeqno: 1,
		Contact: state.Contact{Initialized: true, MinRPCTime: time.Unix(math.MaxInt32, 0)},
	})
	db.Units.Put(tx, state.Key(demoURL, "w"), state.Workunit{Project: demoURL, Workunit: protocol.Workunit{Name: "w"}})
	db.Results.Put(tx, state.Key(demoURL, "w_0"), state.Result{
		Project: demoURL, State: protocol.ClientDownloaded, Slot: state.NoSlot, Suspended: true,
		Result: protocol.Result{Name: "w_0", WorkunitName: "w", ReportDeadline: time.Unix(math.MaxInt32, 0)},
	})
}

// away moves the world's account file away and returns a function that restores it.
func (w *world) away(t *testing.T) (back func()) {
	t.Helper()
	path := settings.AccountPath(w.dir, w.url)
	text, err := os.ReadFile(path)
	if err == nil {
		err = os.Remove(path)
	}
	must(t, err)
	return func() {
		must(t, os.WriteFile(path, text, 0o600))
	}
}

// keeps checks that the project has its task and host.
func (w *world) keeps(t *testing.T, s control.Status) control.Project {
	t.Helper()
	if len(s.Projects) != 1 || s.Projects[0].HostID != 111 || len(s.Tasks) != 1 || s.Tasks[0].Name != "w_0" || s.Tasks[0].ExitStatus != 0 {
		t.Fatalf("the project or its task was given up: %+v %+v", s.Projects, s.Tasks)
	}
	return s.Projects[0]
}

// An account file that is missing costs nothing while it is announced, also when the
// agent is restarted meanwhile, and nothing is left of that when it is back.
func TestMissingAccountFile(t *testing.T) {
	t.Parallel()
	w := newWorld(t, demoURL, withMaster(t, demoURL), waiting)
	w.run(func(t *testing.T) {
		w.after(t, time.Second)
		back := w.away(t)
		for range 12 {
			must(t, w.a.Reload(t.Context()))
			s := w.after(t, time.Hour)
			p := w.keeps(t, s)
			if p.Disconnected || p.Share != 100 || !strings.Contains(p.Work, "account file is missing") {
				t.Fatalf("while it is missing: %+v", p)
			}
			told := strings.Join(s.Complaints, "\n")
			for _, want := range []string{"has been missing since", "will be detached", "You can: restore the file, or detach now with: starling detach " + demoURL, filepath.Join("accounts", "127.0.0.1_18080_demo.toml")} {
				if !strings.Contains(told, want) {
					t.Errorf("status says %q, want %q in it", told, want)
				}
			}
			w.stop()
			w.start(t)
			w.keeps(t, w.after(t, time.Second))
		}
		back()
		must(t, w.a.Reload(t.Context()))
		s := w.after(t, 48*time.Hour)
		if p := w.keeps(t, s); p.Ending != "" || len(s.Complaints) > 0 {
			t.Errorf("when it is back: %q, %q", p.Ending, s.Complaints)
		}
	})
}

// A project is detached when its account file has been missing for the time that was
// announced, and even then not right at the start of an agent.
func TestAccountFileThatStaysAway(t *testing.T) {
	t.Parallel()
	w := newWorld(t, demoURL, withMaster(t, demoURL), waiting)
	w.run(func(t *testing.T) {
		w.after(t, time.Second)
		w.away(t)
		must(t, w.a.Reload(t.Context()))
		w.keeps(t, w.after(t, 23*time.Hour))
		w.stop()
		time.Sleep(72 * time.Hour)
		w.start(t)
		w.keeps(t, w.after(t, 59*time.Minute))
		if s := w.after(t, 2*time.Minute); len(s.Projects)+len(s.Tasks) > 0 {
			t.Errorf("after the announced time: %+v %+v", s.Projects, s.Tasks)
		}
		w.stop()
		w.start(t)
		if s := w.after(t, time.Minute); len(s.Projects) > 0 {
			t.Errorf("it came back: %+v", s.Projects)
		}
	})
}

// After an agent whose clock was years ahead, a missing account file is announced for as long as
// ever, and a mode ends when it was to end.
func TestClockSetBackBetweenTwoAgents(t *testing.T) {
	t.Parallel()
	wrong := time.Date(2012, 1, 1, 0, 0, 0, 0, time.UTC) // a bubble starts in 2000
	w := newWorld(t, demoURL, withMaster(t, demoURL), func(db *state.DB, tx *state.Tx) {
		waiting(db, tx)
		h, _ := db.Hosts.Get(state.Self)
		h.LastSeen, h.RunMode = wrong, prefs.ModeFor(prefs.Never, 2*time.Hour, wrong)
		db.Hosts.Put(tx, state.Self, h)
	})
	must(t, os.Remove(settings.AccountPath(w.dir, demoURL)))
	w.run(func(t *testing.T) {
		s := w.after(t, time.Hour)
		if w.keeps(t, s); !strings.HasPrefix(s.Compute, "You suspended computing until ") {
			t.Errorf("after an hour: %q", s.Compute)
		}
		s = w.after(t, 22*time.Hour)
		if w.keeps(t, s); strings.HasPrefix(s.Compute, "You suspended") {
			t.Errorf("after a day: %q", s.Compute)
		}
	})
}

// If all account files are gone at once, with their folder or without, or if the folder is not a
// folder, that is not a request to detach either.
func TestAccountsFolderIsAway(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(dir string) error{
		"gone":   os.RemoveAll,
		"a file": func(dir string) error { return errors.Join(os.RemoveAll(dir), os.WriteFile(dir, nil, 0o600)) },
		"another's files": func(dir string) error {
			return errors.Join(os.RemoveAll(dir), os.Mkdir(dir, 0o700), os.WriteFile(filepath.Join(dir, "x.toml"), []byte("master_url = 1\n"), 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, demoURL, withMaster(t, demoURL), waiting)
			w.run(func(t *testing.T) {
				w.after(t, time.Second)
				must(t, spoil(filepath.Join(w.dir, settings.AccountsDir)))
				_ = w.a.Reload(t.Context())
				s := w.after(t, time.Hour)
				w.keeps(t, s)
				if len(s.Complaints) == 0 {
					t.Error("status does not say so")
				}
			})
		})
	}
}

// A detach or reset can be undone for some minutes. Then it is carried out, even if the agent is
// restarted meanwhile.
func TestDetachAndResetCanBeUndone(t *testing.T) {
	t.Parallel()
	for what, begin := range map[string]func(w *world) error{
		"detach": func(w *world) error { return w.a.Detach(context.Background(), demoURL) },
		"reset":  func(w *world) error { return w.a.SteerProject(context.Background(), demoURL, control.ResetProject) },
	} {
		t.Run(what, func(t *testing.T) {
			w := newWorld(t, demoURL, withMaster(t, demoURL), waiting)
			w.run(func(t *testing.T) {
				w.after(t, time.Second)
				do := func(err error) {
					t.Helper()
					must(t, err)
				}
				do(begin(w))
				p := w.keeps(t, w.after(t, 4*time.Minute))
				if !strings.Contains(p.Ending, "starling undo "+demoURL) || !strings.Contains(p.Work, "being "+what) {
					t.Errorf("told: %q, %q", p.Ending, p.Work)
				}
				if v, err := w.a.Tools(t.Context()); err != nil || len(v.Projects) > 0 && len(v.Projects[0].Results) > 0 {
					t.Errorf("BOINC's tools still see %+v, %v", v.Projects, err)
				}
				w.stop()
				w.start(t)
				w.keeps(t, w.after(t, time.Second))
				do(w.a.SteerProject(t.Context(), demoURL, control.UndoProject))
				if p := w.keeps(t, w.after(t, time.Hour)); p.Ending != "" || p.Disconnected || p.Share != 100 {
					t.Errorf("undone: %+v", p)
				}
				do(begin(w))
				w.after(t, 4*time.Minute)
				w.stop()
				w.start(t)
				s := w.after(t, 2*time.Minute)
				if len(s.Tasks) > 0 || (len(s.Projects) == 1) != (what == "reset") {
					t.Errorf("afterwards: %+v %+v", s.Projects, s.Tasks)
				}
			})
		})
	}
}

// If a project is attached again in time, it keeps its tasks. With the key of another account, the
// tasks of the first are given up.
func TestAttachedAgain(t *testing.T) {
	t.Parallel()
	for key, tasks := range map[protocol.Authenticator]int{"00000000000000000000000000000001": 1, "2": 0} {
		w := newWorld(t, demoURL, withMaster(t, demoURL), waiting)
		w.run(func(t *testing.T) {
			w.after(t, time.Second)
			must(t, errors.Join(w.a.Detach(t.Context(), demoURL), w.a.Attach(t.Context(), demoURL, key)))
			s := w.after(t, time.Minute)
			if len(s.Projects) != 1 || s.Projects[0].Ending != "" || len(s.Tasks) != tasks {
				t.Errorf("with key %s: %+v %+v", key, s.Projects, s.Tasks)
			}
		})
	}
}

// The way that editors and tools save, seen by the real watcher: 12 of 12 times the
// project keeps its task.
func TestSavesByRename(t *testing.T) {
	t.Parallel()
	w := newWorld(t, demoURL, withMaster(t, demoURL), waiting)
	a, err := agent.New(agent.Config{DataDir: w.dir, Log: logOf(t, nil), Transport: w.peer, Version: "test", Watch: true})
	must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	defer func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	if _, err := a.Status(ctx); err != nil { // it runs
		t.Fatal(err)
	}
	path := settings.AccountPath(w.dir, demoURL)
	see := func(missing bool) { // as long as it takes the watcher
		t.Helper()
		testwait.Until(t, "the watcher", func() bool {
			s, err := a.Status(ctx)
			must(t, err)
			w.keeps(t, s)
			return missing == (len(s.Complaints) > 0)
		})
	}
	move := func(from, to string) {
		t.Helper()
		must(t, os.Rename(from, to))
	}
	hidden := path + "~"
	for range 2 {
		move(path, hidden)
		see(true)
		move(hidden, path)
		see(false)
	}
	for range 10 { // too short to be noticed, except at the wrong instant
		move(path, hidden)
		must(t, a.Reload(ctx))
		move(hidden, path)
		must(t, a.Reload(ctx))
		see(false)
	}
}

// A task that is aborted waits for some minutes, in which it can be resumed, also over
// a restart.
func TestAbortCanBeUndone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, demoURL, withMaster(t, demoURL), waiting)
	w.run(func(t *testing.T) {
		w.after(t, time.Second)
		do := func(what control.TaskAction) {
			t.Helper()
			must(t, w.a.SteerTask(t.Context(), "", "w_0", what))
		}
		if err := w.a.SetMode(t.Context(), control.Computing, prefs.Never, 0); err != nil { // it cannot really run
			t.Fatal(err)
		}
		do(control.AbortSoon)
		s := w.after(t, 4*time.Minute)
		if w.keeps(t, s); !strings.Contains(s.Tasks[0].Why, "At your request, this task will be aborted") || !strings.Contains(s.Tasks[0].Why, "starling task resume w_0") {
			t.Errorf("told: %q", s.Tasks[0].Why)
		}
		w.stop()
		w.start(t)
		do(control.ResumeTask)
		w.keeps(t, w.after(t, time.Hour))
		do(control.AbortSoon)
		w.after(t, time.Minute)
		w.stop()
		w.start(t)
		if s := w.after(t, 5*time.Minute); len(s.Tasks) != 1 || s.Tasks[0].ExitStatus != protocol.ExitAbortedByUser {
			t.Errorf("afterwards: %+v", s.Tasks)
		}
	})
}
