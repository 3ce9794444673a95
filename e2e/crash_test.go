//go:build unix

package e2e_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/starling-grid/starling/agent/control"
)

// An agent that crashes twice while a task runs sets the task aside, continues with others, and
// lets a person decide. A killed agent does not count as crashed.
func TestATaskThatBringsTheAgentDownIsSetAside(t *testing.T) {
	t.Parallel()
	ctx := patience(t)
	p := newProject(t, ctx)
	lastingWork(t, ctx, p, 1)
	serve(t, ctx, p)
	a := newAgent(t, "a")
	startAgent(t, ctx, a, p)
	task := func(s control.Status) control.Task {
		if len(s.Tasks) != 1 {
			return control.Task{}
		}
		return s.Tasks[0]
	}
	runs := func(s control.Status) bool { return task(s).Running && task(s).PID != 0 }
	end := func(signal syscall.Signal) {
		t.Helper()
		await(t, ctx, a, "the task to run", runs)
		must(t, a.Process().Signal(signal))
		must(t, a.Start())
	}
	for range 3 {
		end(syscall.SIGKILL)
	}
	end(syscall.SIGABRT) // as a fault of the program itself
	end(syscall.SIGABRT)
	s := await(t, ctx, a, "the task to be set aside", func(s control.Status) bool { return strings.HasPrefix(task(s).Why, "Set aside: ") })
	if task(s).Running {
		t.Errorf("got %+v", task(s))
	}
	if words, err := os.ReadFile(filepath.Join(a.Dir, "crash.log.1")); err != nil || !strings.HasPrefix(string(words), "SIGABRT") {
		t.Errorf("last words: %.100q, %v", words, err)
	}
	if _, err := a.Run(ctx, "task", "resume", task(s).Name); err != nil {
		t.Fatal(err)
	}
	await(t, ctx, a, "the task to run again", runs)
	must(t, a.Stop())

	// An agent with an emptied state file does not start as a new one, because there is a copy.
	must(t, os.Truncate(filepath.Join(a.Dir, "state.db"), 0))
	if out, err := a.Run(ctx, "status"); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("status of a damaged state: %q, %v", out, err)
	}
	must(t, a.Start())
	again := await(t, ctx, a, "the agent to be back", func(s control.Status) bool { return len(s.Projects) == 1 && s.Projects[0].HostID != 0 })
	if len(s.Projects) == 1 && again.Projects[0].HostID != s.Projects[0].HostID {
		t.Errorf("it was host %d and is %d", s.Projects[0].HostID, again.Projects[0].HostID)
	}
	await(t, ctx, a, "the task to run again", runs)
	if _, err := os.Stat(filepath.Join(a.Dir, "state.db.good")); errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}
