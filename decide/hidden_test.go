package decide_test

import (
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/decide"
	"github.com/starling-grid/starling/jobsched"
	"github.com/starling-grid/starling/prefs"
	"github.com/starling-grid/starling/reason"
	"github.com/starling-grid/starling/resource"
)

// A task for a GPU that is not there keeps no CPU busy, so it keeps no work for CPUs away.
func TestATaskThatCanNeverRunKeepsNoWorkAway(t *testing.T) {
	s := snapshot(func(s *decide.Snapshot) {
		s.Projects = s.Projects[:1]
		s.Projects[0].Estimates = jobsched.Estimator{}
		for _, id := range []string{"g1", "g2", "g3"} {
			s.Results = append(s.Results, decide.Result{
				ID: id, Phase: decide.Runnable, Stated: 10 * time.Minute, Received: now, Deadline: now.Add(100 * time.Hour),
				Usage: resource.Usage{Coproc: &resource.Coproc{Kind: resource.NVIDIA}},
			})
		}
	})
	plan := decide.Pass(s)
	if r := plan.Projects[0].Fetch; r.Code != reason.Ask || plan.Results[0].Code != reason.GPUMissing || !strings.Contains(plan.Results[0].Cure.String(), "starling task abort g1") {
		t.Errorf("got %+v, %+v", r, plan.Results[0])
	}
}

// Nor do tasks in container images that cannot run until a person acts. Other tasks whose start failed do: when the
// disk is full, no task of any project could be started.
func TestTasksInImagesThatCannotRunKeepNoWorkAway(t *testing.T) {
	for code, asks := range map[reason.Code]bool{reason.NoImages: true, reason.DriverIncomplete: true, reason.DiskFull: false, reason.StartFails: false} {
		s := snapshot(func(s *decide.Snapshot) {
			s.Projects = s.Projects[:1]
			s.Projects[0].Estimates = jobsched.Estimator{}
			for _, id := range []string{"i1", "i2"} {
				s.Results = append(s.Results, decide.Result{
					ID: id, Phase: decide.Runnable, Stated: 20 * time.Hour, Received: now, Deadline: now.Add(100 * time.Hour),
					NotBefore: now.Add(time.Minute), Obstacle: reason.Reason{Code: code},
				})
			}
		})
		if r := decide.Pass(s).Projects[0].Fetch; (r.Code == reason.Ask) != asks {
			t.Errorf("%s: got %+v, want it to ask: %v", code, r, asks)
		}
	}
}

// The limit on CPU time is mentioned for the tasks to which it applies, and for no others.
func TestTheLimitOnCPUTimeIsSaidWhereItHolds(t *testing.T) {
	p := prefs.Default()
	p.CPUUsageLimit, p.NiuCPUUsageLimit = 10, 100
	s := snapshot(func(s *decide.Snapshot) {
		s.Duty = p.Duty(true)
		for _, id := range []string{"limited", "free"} {
			s.Results = append(s.Results, decide.Result{ID: id, Phase: decide.Runnable, Stated: time.Hour, Received: now, Deadline: now.Add(100 * time.Hour), Unthrottled: id == "free"})
		}
	})
	plan := decide.Pass(s)
	for i, want := range []string{"Running. Tasks run for 10% of the time while the computer is in use (cpu_usage_limit = 10).", "Running."} {
		if got := plan.Results[i]; got.Text.String() != want || got.Remaining != time.Hour {
			t.Errorf("got %q with %v remaining, want %q", got.Text, got.Remaining, want)
		}
	}
}
