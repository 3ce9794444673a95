package workfetch_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/starling-grid/starling/jobsched"
	"github.com/starling-grid/starling/reason"
	"github.com/starling-grid/starling/resource"
	"github.com/starling-grid/starling/workfetch"
)

// TestCeiling plays servers with any estimates against work fetch: by its own
// reckoning, the queue for each kind of processor never passes the high-water mark by more
// than one result for each of them.
func TestCeiling(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := snapshot(nil)
		s.CPUs = rapid.IntRange(1, 8).Draw(t, "cpus")
		for _, k := range []resource.Kind{resource.NVIDIA, "asic"}[:rapid.IntRange(0, 2).Draw(t, "kinds")] {
			s.Coprocs = append(s.Coprocs, workfetch.Pool{Kind: k, Count: rapid.IntRange(1, 4).Draw(t, "devices"), Factor: rapid.Float64Range(0.1, 100).Draw(t, "factor")})
		}
		longest := make(map[resource.Kind]float64)
		for range rapid.IntRange(1, 5).Draw(t, "projects") {
			p := known(nil)
			p.URL = string(rune('a' + len(s.Projects)))
			p.Share = float64(rapid.IntRange(1, 100).Draw(t, "share"))
			p.Debt = float64(rapid.IntRange(-100, 100).Draw(t, "debt")) * 3600
			p.Stream = drawStream(t, resource.CPU, longest)
			p.Others = make(map[resource.Kind]workfetch.Stream)
			for _, c := range s.Coprocs {
				of := drawStream(t, c.Kind, longest)
				if rapid.Bool().Draw(t, "waits") {
					of.Backoff = now.Add(time.Hour)
				}
				p.Others[c.Kind] = of
			}
			s.Projects = append(s.Projects, p)
		}
		for range 200 {
			asked := false
			for i, r := range workfetch.Choose(s) {
				if r.Code != reason.Ask {
					continue
				}
				asked = true
				s.Jobs = append(s.Jobs, reply(i, s.Projects[i].Stream, resource.CPU, r)...)
				for _, c := range r.Coprocs {
					s.Jobs = append(s.Jobs, reply(i, s.Projects[i].Others[c.Kind], c.Kind, c.Decision)...)
				}
			}
			if !asked {
				break
			}
		}
		queued := make(map[resource.Kind]float64)
		for _, j := range s.Jobs {
			queued[j.Kind()] += j.Remaining.Seconds() * uses(j)
		}
		within := func(k resource.Kind, count int) {
			if limit := (s.High.Seconds() + longest[k]) * float64(count); queued[k] > limit+1 {
				t.Fatalf("%v s of %s queued, at most %v are allowed", queued[k], k, limit)
			}
		}
		within(resource.CPU, s.CPUs)
		for _, c := range s.Coprocs {
			within(c.Kind, c.Count)
		}
	})
}

func drawStream(t *rapid.T, k resource.Kind, longest map[resource.Kind]float64) workfetch.Stream {
	st := workfetch.Stream{
		Proved:     rapid.Bool().Draw(t, "proved"),
		JobTime:    time.Duration(rapid.IntRange(1, 600).Draw(t, "minutes")) * time.Minute,
		Latency:    1000 * time.Hour,
		Correction: rapid.Float64Range(0.1, 20).Draw(t, "correction"),
	}
	longest[k] = max(longest[k], st.JobTime.Seconds())
	if k != resource.CPU {
		st.Devices = rapid.SampledFrom([]float64{0, 0.5, 1}).Draw(t, "devices")
	}
	return st
}

// uses returns the number of processors of its kind that a job uses.
func uses(j jobsched.Job) float64 {
	if j.Coproc == nil {
		return 1
	}
	return j.Devices()
}

// reply returns the jobs sent by a server that relies on its own estimates.
func reply(project int, st workfetch.Stream, k resource.Kind, r workfetch.Decision) (jobs []jobsched.Job) {
	j := jobsched.Job{Project: project, Remaining: st.JobTime, Deadline: now.Add(st.Latency)}
	if k != resource.CPU {
		j.Coproc = &resource.Coproc{Kind: k, Count: st.Devices}
	}
	stated := st.JobTime.Seconds() * uses(j) / st.Correction
	for seconds, instances := r.Wanted(); seconds > 0 || instances > 0; instances -= uses(j) {
		jobs = append(jobs, j)
		seconds -= stated
	}
	return jobs
}

// A project is asked for all kinds at once, and never for a kind for which it has no applications.
func TestRequestsForCoprocessors(t *testing.T) {
	const gpu = resource.NVIDIA
	s := snapshot(queue(0, 12), known(func(p *workfetch.Project) {
		p.Others = map[resource.Kind]workfetch.Stream{gpu: {Proved: true, JobTime: time.Hour, Latency: 1000 * time.Hour}}
	}))
	s.Coprocs = []workfetch.Pool{{Kind: gpu, Count: 2, Factor: 10}}
	r := workfetch.Choose(s)[0]
	if of := r.Of(gpu); r.Code != reason.Ask || r.Seconds != 0 || of.Code != reason.Ask || of.Seconds < 11*3600 || of.Instances != 2 {
		t.Errorf("with CPUs supplied: got %+v", r)
	}
	s.Jobs = queue(0, 6) // nothing that the CPUs alone would be asked about, but there is room
	if r = workfetch.Choose(s)[0]; r.Code != reason.Ask || r.Seconds != 0 {
		t.Errorf("between the marks: got %+v", r)
	} else if seconds, instances := r.Wanted(); seconds < 5*3600 || instances != 0 {
		t.Errorf("the session for the GPU asks for %v s of the CPUs beside, and to fill %v", seconds, instances)
	}
	s.Jobs = nil
	if r = workfetch.Choose(s)[0]; r.Seconds < 11*3600 || r.Of(gpu).Seconds < 11*3600 {
		t.Errorf("with nothing at all: got %+v", r)
	}
	s.Projects[0].Others[gpu] = workfetch.Stream{NoApps: true}
	if r = workfetch.Choose(s)[0]; r.Seconds == 0 || r.Of(gpu).Code != reason.NoGPUApps || r.Of(gpu).Seconds != 0 {
		t.Errorf("without applications for GPUs: got %+v", r)
	}
	s.Projects[0].NoApps = true
	if r = workfetch.Choose(s)[0]; r.Code != reason.NoGPUApps || r.Seconds != 0 {
		t.Errorf("without any: got %+v", r)
	}
	// One that is owed more is asked first, whichever processors that is for.
	s.Projects[0].NoApps = false
	s.Projects = append(s.Projects, known(func(p *workfetch.Project) {
		p.URL, p.NoApps, p.Debt = "http://gpu.example/", true, 3600*100
		p.Others = map[resource.Kind]workfetch.Stream{gpu: {Proved: true, JobTime: time.Hour, Latency: 1000 * time.Hour}}
	}))
	all := workfetch.Choose(s)
	if all[0].Code != reason.OtherFirst || all[1].Code != reason.Ask || all[1].Seconds != 0 || all[1].Of(gpu).Seconds == 0 {
		t.Errorf("got %+v", all)
	}
}
