package workfetch_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/jobsched"
	"github.com/starling-grid/starling/prefs"
	"github.com/starling-grid/starling/reason"
	"github.com/starling-grid/starling/resource"
	"github.com/starling-grid/starling/workfetch"
)

// A kind of processor that waits after a request without work is included in a session that takes
// place anyway, but does not cause one.
func TestAWaitingKindIsAskedForAlong(t *testing.T) {
	const gpu = resource.NVIDIA
	waiting := workfetch.Stream{Backoff: now.Add(time.Hour), Proved: true, JobTime: time.Hour, Latency: 1000 * time.Hour}
	known := known(func(p *workfetch.Project) { p.Others = map[resource.Kind]workfetch.Stream{gpu: waiting} })
	for _, tt := range []struct {
		name      string
		jobs      []jobsched.Job
		change    func(*workfetch.Snapshot)
		want      reason.Code
		cpu, gpu  bool // asked for
		gpuFilled float64
	}{
		{"beside a request for the CPUs", nil, nil, reason.Ask, true, true, 2},
		{"when the CPUs are supplied, by a session held for something else", queue(0, 12), nil, reason.BufferFull, false, true, 2},
		{"a GPU that has enough", gpuJobs(12), nil, reason.Ask, true, false, 0},
		{"a GPU that a person stopped", nil, func(s *workfetch.Snapshot) { s.Coprocs[0].Stopped = prefs.Permission{Why: words.Plain("No.")} }, reason.Ask, true, false, 0},
		{"a GPU whose tasks fail", nil, func(s *workfetch.Snapshot) {
			s.Projects[0].Failures, s.Projects[0].Failed = 3, reason.Reason{Code: reason.ExitStatus}
		}, reason.Ask, true, false, 0},
		{"CPUs that wait, beside a request for the GPU", nil, func(s *workfetch.Snapshot) {
			s.Projects[0].Stream, s.Projects[0].Others[gpu] = waiting, s.Projects[0].Stream
		}, reason.Ask, true, true, 2},
		{"both wait", nil, func(s *workfetch.Snapshot) { s.Projects[0].Stream = waiting }, reason.NoWorkBackoff, true, true, 2},
		{"the only task of a project for which little CPU time is enough", nil, func(s *workfetch.Snapshot) {
			s.Coprocs, s.Projects[0].NonCPUIntensive, s.Projects[0].Backoff = nil, true, now.Add(time.Hour)
		}, reason.NoWorkBackoff, true, false, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := known
			p.Others = map[resource.Kind]workfetch.Stream{gpu: waiting}
			s := snapshot(tt.jobs, p)
			s.Coprocs = []workfetch.Pool{{Kind: gpu, Count: 2, Factor: 10}}
			if tt.change != nil {
				tt.change(&s)
			}
			r := workfetch.Choose(s)[0]
			cpu, _ := r.Wanted()
			seconds, instances := r.Of(gpu).Wanted()
			if r.Code != tt.want || (cpu > 0) != tt.cpu || (seconds > 0) != tt.gpu || instances != tt.gpuFilled {
				t.Errorf("asks for %v s of the CPUs, %v s of the GPUs, %v of them idle: %+v", cpu, seconds, instances, r)
			}
		})
	}
}

// gpuJobs makes n jobs of an hour for GPUs.
func gpuJobs(n int) []jobsched.Job {
	jobs := queue(0, n)
	for i := range jobs {
		jobs[i].Coproc = &resource.Coproc{Kind: resource.NVIDIA, Count: 1}
	}
	return jobs
}

// A wait prevents requests, no matter what could be asked for along with others. The amount asked
// for along is the same as without a wait.
func TestWaitsHoldHoweverMuchIsAskedForAlong(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := snapshot(nil)
		s.CPUs = rapid.IntRange(1, 4).Draw(t, "cpus")
		s.Coprocs = []workfetch.Pool{{Kind: resource.NVIDIA, Count: 2, Factor: 10}}
		s.Jobs = append(queue(0, rapid.IntRange(0, 20).Draw(t, "jobs")), gpuJobs(rapid.IntRange(0, 20).Draw(t, "GPU jobs"))...)
		free := known(func(p *workfetch.Project) {
			longest := make(map[resource.Kind]float64)
			p.Stream = drawStream(t, resource.CPU, longest)
			p.Others = map[resource.Kind]workfetch.Stream{resource.NVIDIA: drawStream(t, resource.NVIDIA, longest)}
		})
		s.Projects = []workfetch.Project{free}
		before := workfetch.Choose(s)[0]
		waits := free
		waits.Backoff = now.Add(time.Hour)
		of := free.Others[resource.NVIDIA]
		of.Backoff = waits.Backoff
		waits.Others = map[resource.Kind]workfetch.Stream{resource.NVIDIA: of}
		s.Projects = []workfetch.Project{waits}
		r := workfetch.Choose(s)[0]
		if r.Code == reason.Ask || r.Seconds != 0 || r.Of(resource.NVIDIA).Code == reason.Ask {
			t.Fatalf("the wait does not hold: %+v", r)
		}
		for _, of := range []struct{ free, waits workfetch.Decision }{{before, r}, {before.Of(resource.NVIDIA), r.Of(resource.NVIDIA)}} {
			if seconds, instances := of.waits.Wanted(); seconds != of.free.Seconds || of.free.Seconds > 0 && instances != of.free.Instances {
				t.Fatalf("along with others it asks for %v s and %v idle ones, without the wait for %v and %v", seconds, instances, of.free.Seconds, of.free.Instances)
			}
		}
	})
}
