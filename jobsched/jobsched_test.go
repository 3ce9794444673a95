package jobsched_test

import (
	"testing"
	"time"

	"github.com/starling-grid/starling/jobsched"
	"pgregory.net/rapid"
)

var now = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

func TestChoose(t *testing.T) {
	soon, late := now.Add(time.Hour), now.Add(24*time.Hour)
	for _, tt := range []struct {
		name string
		jobs []jobsched.Job
		want []jobsched.Code
	}{
		{"nothing to do", nil, nil},
		{
			"the earliest deadlines run",
			[]jobsched.Job{{ID: "a", Deadline: late}, {ID: "b", Deadline: soon}, {ID: "c", Deadline: soon}},
			[]jobsched.Code{jobsched.NoCPU, jobsched.Run, jobsched.Run},
		},
		{
			"what runs is finished first",
			[]jobsched.Job{{ID: "a", Deadline: late, Running: true}, {ID: "b", Deadline: soon}, {ID: "c", Deadline: soon}},
			[]jobsched.Code{jobsched.Run, jobsched.Run, jobsched.NoCPU},
		},
		{
			"an application's wish to wait is respected",
			[]jobsched.Job{{ID: "a", NotBefore: soon}, {ID: "b"}},
			[]jobsched.Code{jobsched.Postponed, jobsched.Run},
		},
		{
			"a job of more CPUs than there are runs alone",
			[]jobsched.Job{{ID: "a", CPUs: 8}, {ID: "b"}},
			[]jobsched.Code{jobsched.Run, jobsched.NoCPU},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := jobsched.Choose(now, 2, tt.jobs)
			for i, w := range tt.want {
				if got[i].Code != w {
					t.Errorf("job %d: got %s, want %s", i, got[i].Code, w)
				}
			}
		})
	}
}

func TestNoCPUIsGivenTwiceAndNoneLeftIdle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cpus := rapid.IntRange(1, 8).Draw(t, "cpus")
		jobs := make([]jobsched.Job, rapid.IntRange(0, 20).Draw(t, "jobs"))
		for i := range jobs {
			jobs[i] = jobsched.Job{
				ID:       string(rune('a' + i)),
				Running:  rapid.Bool().Draw(t, "running"),
				Deadline: now.Add(time.Duration(rapid.IntRange(0, 5).Draw(t, "deadline")) * time.Hour),
			}
		}
		running := 0
		for _, r := range jobsched.Choose(now, cpus, jobs) {
			if r.Code == jobsched.Run {
				running++
			}
		}
		if want := min(cpus, len(jobs)); running != want {
			t.Fatalf("%d of %d jobs run on %d CPUs, want %d", running, len(jobs), cpus, want)
		}
	})
}
