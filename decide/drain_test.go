package decide_test

import (
	"testing"
	"time"

	"github.com/starling-grid/starling/decide"
	"github.com/starling-grid/starling/reason"
)

// draining returns a computer with a task in each state, and a drain.
func draining(scope decide.DrainScope, change func(*decide.Snapshot)) decide.Snapshot {
	return snapshot(func(s *decide.Snapshot) {
		s.Drain = decide.Drain{Scope: scope, Since: now.Add(-time.Minute)}
		add := func(id string, phase decide.Phase, more func(*decide.Result)) {
			r := decide.Result{ID: id, Phase: phase, Stated: time.Hour, Received: now.Add(-time.Hour), Deadline: now.Add(200 * time.Hour), Completed: now}
			more(&r)
			s.Results = append(s.Results, r)
		}
		add("runs", decide.Runnable, func(r *decide.Result) { r.Running, r.Started, r.Finishes = true, true, true })
		add("waits", decide.Runnable, func(*decide.Result) {})
		add("suspended", decide.Runnable, func(r *decide.Result) { r.Suspended = true })
		add("fetches", decide.Fetching, func(*decide.Result) {})
		add("sends", decide.Sending, func(*decide.Result) {})
		add("ready", decide.Ready, func(*decide.Result) {})
		change(s)
	})
}

// A drain keeps work from being fetched, decides by its scope what still runs, and has finished
// tasks reported at once.
func TestDrain(t *testing.T) {
	for _, tt := range []struct {
		name   string
		scope  decide.DrainScope
		change func(*decide.Snapshot)
		codes  []reason.Code // of the tasks that are to be computed, in their order
		left   string
	}{
		{
			"what runs", decide.DrainRunning, func(*decide.Snapshot) {},
			[]reason.Code{reason.RunDebt, reason.Draining, reason.Suspended, reason.Draining},
			"1 task to compute (about 1 h), 1 task to upload, 1 task to report",
		},
		{
			"to a checkpoint", decide.DrainCheckpoint, func(*decide.Snapshot) {},
			[]reason.Code{reason.RunDebt, reason.Draining, reason.Suspended, reason.Draining},
			"1 task to compute, 1 task to upload, 1 task to report",
		},
		{
			"the checkpoint is made", decide.DrainCheckpoint, func(s *decide.Snapshot) { s.Results[0].Finishes = false },
			[]reason.Code{reason.Draining, reason.Draining, reason.Suspended, reason.Draining},
			"1 task to stop, 1 task to upload, 1 task to report",
		},
		{
			"it has stopped after its checkpoint", decide.DrainCheckpoint, func(s *decide.Snapshot) { s.Results[0].Finishes, s.Results[0].Running = false, false },
			[]reason.Code{reason.Draining, reason.Draining, reason.Suspended, reason.Draining},
			"1 task to upload, 1 task to report",
		},
		{
			"everything", decide.DrainAll, func(s *decide.Snapshot) { s.CPUs = 1 },
			[]reason.Code{reason.RunDebt, reason.NoCPU, reason.Suspended, reason.WaitsForFiles},
			"3 tasks to compute (about 3 h), 1 task to upload, 1 task to report",
		},
		{
			"nothing is sent to a suspended project", decide.DrainAll, func(s *decide.Snapshot) { s.Projects[0].Suspended, s.Results[0].Running = true, false },
			[]reason.Code{reason.Suspended, reason.Suspended, reason.Suspended, reason.WaitsForFiles},
			"",
		},
		{
			"its tasks stop first", decide.DrainAll, func(s *decide.Snapshot) { s.Projects[0].Suspended = true },
			[]reason.Code{reason.Suspended, reason.Suspended, reason.Suspended, reason.WaitsForFiles},
			"1 task to stop",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := draining(tt.scope, tt.change)
			plan := decide.Pass(s)
			for i, code := range tt.codes {
				if r := plan.Results[i]; r.Code != code {
					t.Errorf("%s: got %+v, want %s", s.Results[i].ID, r.Explanation, code)
				}
			}
			if got := plan.Drain.Text().String(); got != tt.left || plan.Drain.Done() != (tt.left == "") {
				t.Errorf("left: %q, want %q", got, tt.left)
			}
			for i, p := range plan.Projects {
				if p.Fetch.Code != reason.Draining || p.Await {
					t.Errorf("work is asked for: %+v", p.Fetch)
				}
				if reports := p.Session.Kind == decide.RPC; reports != (i == 0 && !s.Projects[0].Suspended) {
					t.Errorf("project %d: %+v", i, p.Session)
				}
			}
		})
	}
}
