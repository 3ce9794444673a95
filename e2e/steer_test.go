package e2e_test

import (
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/prefs"
)

// TestSteering does everything to a running task that a person can, and checks the reason of each
// stop.
func TestSteering(t *testing.T) {
	t.Parallel()
	ctx := patience(t)
	p := newProject(t, ctx)
	lastingWork(t, ctx, p, 1)
	serve(t, ctx, p)
	a := newAgent(t, "a")
	startAgent(t, ctx, a, p)
	runs := func(s control.Status) bool { return len(s.Tasks) == 1 && s.Tasks[0].Running && s.Tasks[0].PID > 0 }
	rests := func(why string) func(control.Status) bool {
		return func(s control.Status) bool {
			return len(s.Tasks) == 1 && !s.Tasks[0].Running && strings.Contains(s.Tasks[0].Why, why)
		}
	}
	s := await(t, ctx, a, "a running task", runs)
	task, project := s.Tasks[0].Name, s.Projects[0].MasterURL
	do := func(err error) {
		t.Helper()
		must(t, err)
	}
	do(a.SteerTask(ctx, "", task, control.SuspendTask))
	await(t, ctx, a, "the task to rest", rests("You suspended this task."))
	do(a.SteerTask(ctx, project, task, control.ResumeTask))
	await(t, ctx, a, "the task to go on", runs)
	do(a.SteerProject(ctx, project, control.SuspendProject))
	await(t, ctx, a, "the project to rest", rests("You suspended its project."))
	do(a.SteerProject(ctx, project, control.ResumeProject))
	await(t, ctx, a, "the project to go on", runs)
	do(a.SetMode(ctx, control.Computing, prefs.Never, time.Hour))
	await(t, ctx, a, "the computer to rest", rests("You suspended computing"))
	do(a.SetMode(ctx, control.Computing, prefs.Auto, 0))
	await(t, ctx, a, "the computer to go on", runs)
	do(a.SteerTask(ctx, "", task, control.AbortTask))
	await(t, ctx, a, "the task to be given up and reported", func(s control.Status) bool { return len(s.Tasks) == 0 })
	do(a.SteerProject(ctx, project, control.ResetProject))
	await(t, ctx, a, "the project to start anew", func(s control.Status) bool {
		return len(s.Projects) == 1 && s.Projects[0].Initialized && !s.Projects[0].Disconnected
	})
}
