package agent_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/prefs"
	"github.com/starling-grid/starling/state"
)

// Many tasks are suspended, resumed or aborted with one request. Those that no longer exist are
// left out.
func TestManyTasksAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, demoURL, withMaster(t, demoURL), func(db *state.DB, tx *state.Tx) {
		waiting(db, tx)
		h, _ := db.Hosts.Get(state.Self)
		h.RunMode = prefs.Mode{Kind: prefs.Never} // they cannot really run
		db.Hosts.Put(tx, state.Self, h)
		r, _ := db.Results.Get(state.Key(demoURL, "w_0"))
		for i := 1; i < 50; i++ {
			r.Name = fmt.Sprintf("w_%d", i)
			db.Results.Put(tx, state.Key(demoURL, r.Name), r)
		}
	})
	all := []control.TaskRef{{Project: demoURL, Task: "gone"}, {Project: "http://other.example/", Task: "w_0"}}
	for i := range 50 {
		all = append(all, control.TaskRef{Project: demoURL, Task: fmt.Sprintf("w_%d", i)})
	}
	w.run(func(t *testing.T) {
		w.after(t, time.Second)
		do := func(what control.TaskAction, are func(control.Task) bool) {
			t.Helper()
			if n, err := w.a.SteerTasks(t.Context(), all, what); n != 50 || err != nil {
				t.Fatalf("%s: %d tasks, %v", what, n, err)
			}
			n := 0
			for _, k := range w.after(t, time.Second).Tasks {
				if are(k) {
					n++
				}
			}
			if n != 50 {
				t.Errorf("%s: it holds for %d tasks", what, n)
			}
		}
		do(control.ResumeTask, func(k control.Task) bool { return !k.Suspended })
		do(control.SuspendTask, func(k control.Task) bool { return k.Suspended })
		do(control.AbortSoon, func(k control.Task) bool { return !k.AbortAt.IsZero() })
		do(control.ResumeTask, func(k control.Task) bool { return k.AbortAt.IsZero() && !k.Suspended })
		for _, what := range []control.TaskAction{control.AbortTask, "dance"} {
			if n, err := w.a.SteerTasks(t.Context(), all, what); n != 0 || err == nil {
				t.Errorf("%s: %d tasks, %v", what, n, err)
			}
		}
	})
}

// The output that an application has written so far is shown, no matter what it puts in the file's
// place.
func TestStderrOfATask(t *testing.T) {
	t.Parallel()
	w := newWorld(t, demoURL, withMaster(t, demoURL), func(db *state.DB, tx *state.Tx) {
		waiting(db, tx)
		r, _ := db.Results.Get(state.Key(demoURL, "w_0"))
		r.Slot = 0
		db.Results.Put(tx, state.Key(demoURL, "w_0"), r)
	})
	slot := filepath.Join(w.dir, "slots", "0")
	file := filepath.Join(slot, "stderr.txt")
	long := strings.Repeat("x", 40<<10) + "\nthe \x1b[31mend\xff\n"
	err := os.MkdirAll(slot, 0o700)
	if err == nil {
		err = os.WriteFile(file, []byte(long), 0o600)
	}
	must(t, err)
	w.run(func(t *testing.T) {
		w.after(t, time.Second)
		got, err := w.a.Task(t.Context(), demoURL, "w_0")
		if err != nil || len(got.Stderr) > 16<<10 || len(got.Stderr) < 10<<10 || !strings.HasSuffix(got.Stderr, "\nthe [31mend\n") {
			t.Errorf("%v, %d bytes, …%q", err, len(got.Stderr), got.Stderr[max(0, len(got.Stderr)-30):])
		}
		secret := filepath.Join(w.dir, "secret")
		if err := errors.Join(os.WriteFile(secret, []byte("secret"), 0o600), os.Remove(file), os.Symlink(secret, file)); err != nil {
			t.Skip(err)
		}
		if got, err := w.a.Task(t.Context(), demoURL, "w_0"); err != nil || got.Stderr != "" {
			t.Errorf("through a link: %v, %q", err, got.Stderr)
		}
		if _, err := w.a.Task(t.Context(), demoURL, "w_1"); !errors.Is(err, control.ErrNoTask) || !saysIn("de", err, "vielleicht wurde sie schon gemeldet") {
			t.Errorf("a task that is not there: %v", err)
		}
	})
}

// A project's wishes for all of its tasks are remembered.
func TestAProjectsWishes(t *testing.T) {
	t.Parallel()
	reply := answer{code: 200, body: []byte("<scheduler_reply><strict_memory_bound/><non_cpu_intensive/><request_delay>86400</request_delay></scheduler_reply>")}
	w := newWorld(t, demoURL, withMaster(t, demoURL, reply), nil)
	w.run(func(t *testing.T) {
		for w.count(sched) == 0 {
			w.after(t, time.Minute)
		}
		w.after(t, time.Second)
		w.stop()
		defer w.start(t)
		db, err := state.OpenReadOnly(filepath.Join(w.dir, "state.db"))
		must(t, err)
		defer db.Close()
		if p, ok := db.Projects.Get(demoURL); !ok || !p.StrictMemory || !p.NonCPUIntensive {
			t.Errorf("got %+v", p)
		}
	})
}

// saysIn reports whether an error is for people, and has a text in their language.
func saysIn(l words.Language, err error, text string) bool {
	said, ok := words.Explanation(err)
	return ok && strings.Contains(said.In(l), text)
}
