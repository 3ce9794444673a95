package decide_test

import (
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/starling-grid/starling/contact"
	"github.com/starling-grid/starling/debt"
	"github.com/starling-grid/starling/decide"
	"github.com/starling-grid/starling/jobsched"
	"github.com/starling-grid/starling/reason"
	"github.com/starling-grid/starling/resource"
)

// A hostile project sends tasks with arbitrary, possibly false, properties.
type hostile struct {
	stated   time.Duration // computing time of a task, as stated
	really   time.Duration // the real computing time
	deadline time.Duration // from sending
	fraction float64       // the progress that its applications report
	cpus     float64       // that a task uses, as stated
	uses     float64       // that it really uses as long as they are free
	light    bool          // it claims that a task needs little CPU time
	memory   int64
	each     int // tasks in an answer, wanted or not
}

func anyHostile(t *rapid.T) hostile {
	span := func(name string) time.Duration {
		return rapid.OneOf(
			rapid.Map(rapid.Float64Range(0, 100), func(h float64) time.Duration { return time.Duration(h * float64(time.Hour)) }),
			rapid.SampledFrom([]time.Duration{0, 1, time.Second, 365 * 24 * time.Hour, 100 * 365 * 24 * time.Hour}),
		).Draw(t, name)
	}
	h := hostile{
		stated: span("stated"), really: span("really"), deadline: span("deadline"),
		fraction: rapid.SampledFrom([]float64{0, 1e-9, 0.5, 1, 1e6}).Draw(t, "fraction"),
		cpus:     rapid.SampledFrom([]float64{0, 1e-6, 1, 2, 10_000}).Draw(t, "cpus"),
		uses:     rapid.SampledFrom([]float64{0.01, 0.2, 1, 2, 50}).Draw(t, "uses"),
		light:    rapid.Bool().Draw(t, "light"),
		memory:   rapid.SampledFrom([]int64{0, 1, 1 << 30, 1 << 62}).Draw(t, "memory"),
		each:     rapid.SampledFrom([]int{1, 10, 50}).Draw(t, "each"),
	}
	if rapid.Bool().Draw(t, "just in time") { // always in danger, never late
		h.deadline = h.stated + h.stated/4 + 30*time.Minute
	}
	h.really = max(h.really, time.Second)
	return h
}

// A task is one on this computer, together with facts that only its project knows.
type task struct {
	decide.Result
	left time.Duration
	uses float64 // CPUs
	used time.Duration
	bill debt.Bill
}

// compute plays days of a computer with two CPUs, two honest projects and perhaps
// a hostile one, and returns the CPU time that each got.
func compute(days int, h *hostile) []time.Duration {
	const cpus = 2
	s := decide.Snapshot{CPUs: cpus, Memory: 4 << 30, Low: 3 * time.Hour, High: 15 * time.Hour, Slice: time.Hour}
	for i := range 3 {
		s.Projects = append(s.Projects, decide.Project{
			URL: fmt.Sprintf("https://%d.example/", i), Share: 100, Known: true, Schedulers: 1, JobTime: time.Hour, Latency: 240 * time.Hour,
			Estimates: jobsched.Estimator{Results: 9, Ratio: 1},
		})
	}
	if h == nil {
		s.Projects = s.Projects[:2]
	}
	got := make([]time.Duration, len(s.Projects))
	var tasks []*task
	var light resource.Light
	serial := 0
	send := func(project int, at time.Time, n int, stated, really, latency time.Duration) {
		for range n {
			serial++
			tasks = append(tasks, &task{Result: decide.Result{
				ID: fmt.Sprint(serial), Project: project, Phase: decide.Runnable, Usage: resource.Usage{CPUs: 1, Memory: 100 << 20},
				Stated: stated, Received: at, Deadline: at.Add(latency),
			}, left: really, uses: 1})
		}
	}
	start := now
	for at := start; at.Before(start.Add(time.Duration(days) * 24 * time.Hour)); {
		s.Now, s.Results = at, s.Results[:0]
		for _, k := range tasks {
			if k.Project == 2 {
				k.NonCPUIntensive = h.light && !light.Overused
				if h.light && light.Overused {
					k.CPUs = max(k.CPUs, 1) // as the agent's view has it
				}
			}
			s.Results = append(s.Results, k.Result)
		}
		next := at.Add(time.Hour)
		if h != nil && h.light {
			s.Projects[2].NonCPUIntensive = !light.Overused
			next = at.Add(10 * time.Minute) // an agent looks more often than that
		}
		plan := decide.Pass(s)
		for i := range s.Projects {
			p := &s.Projects[i]
			p.Debt, p.Used = plan.Projects[i].Debt, 0
			if plan.Projects[i].Session.Kind != decide.RPC {
				continue
			}
			p.Contact = contact.State{MinRPCTime: at.Add(time.Minute)}
			fetch := plan.Projects[i].Fetch
			next = at.Add(time.Second) // an answer is followed by a pass
			switch {
			case i == 2:
				before := len(tasks)
				const most = 60
				send(i, at, min(h.each, most-before), h.stated, h.really, h.deadline)
				for k := before; k < len(tasks); k++ {
					tasks[k].CPUs, tasks[k].Memory, tasks[k].uses = h.cpus, h.memory, h.uses
				}
				p.JobTime, p.Latency = h.stated, h.deadline
				p.NextRPC = at.Add(time.Hour) // it wants to be asked again
			case fetch.Code == reason.Ask:
				send(i, at, int(fetch.Seconds/3600)+1, time.Hour, time.Hour, 240*time.Hour)
			}
		}
		// Until something happens.
		running := make(map[string]bool)
		for i, r := range plan.Results {
			if r.Run() {
				running[s.Results[i].ID] = true
			}
		}
		wanted := 0.0
		for _, k := range tasks {
			if running[k.ID] {
				wanted += k.uses
				next = earliest(next, at.Add(max(k.left, 10*time.Minute)))
			}
		}
		took := next.Sub(at)
		s.Elapsed = took
		gone := make(map[string]bool)
		for i, r := range plan.Results {
			gone[s.Results[i].ID] = r.GiveUp
		}
		for _, k := range tasks {
			if k.Running = running[k.ID]; !k.Running {
				k.Ran = 0
				continue
			}
			pace := min(1, cpus/wanted) // the system shares out the CPUs
			used := time.Duration(float64(took) * pace * k.uses)
			got[k.Project] += used
			k.used += used
			claim := min(cpus, max(k.CPUs, 1))
			if k.NonCPUIntensive {
				claim = 0
			}
			pays := k.bill.Add(claim, took, k.used, cpus)
			s.Projects[k.Project].Used += pays.Claimed + pays.Beyond
			k.Started, k.Ran = true, k.Ran+took
			k.Elapsed += took
			k.left -= time.Duration(float64(took) * pace)
			if k.Project == 2 {
				light = light.Ran(took, pays.Used)
			}
			k.Fraction = float64(k.Elapsed) / float64(time.Hour)
			if k.Project == 2 {
				k.Fraction = h.fraction
			}
		}
		tasks = slices.DeleteFunc(tasks, func(k *task) bool { return gone[k.ID] || k.left <= 0 })
		at = next
	}
	return got
}

func earliest(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// TestAHostileProjectTakesNoMoreThanItsDebt lets a project send arbitrary tasks. The others get
// their shares, except for the time that the hostile project may owe.
func TestAHostileProjectTakesNoMoreThanItsDebt(t *testing.T) {
	const days = 24
	quiet := compute(days, nil)
	if quiet[0]+quiet[1] < 2*days*23*time.Hour {
		t.Fatalf("without one they get %v", quiet)
	}
	runs := 0
	rapid.Check(t, func(t *rapid.T) {
		h := anyHostile(t)
		if runs++; runs > 12 && os.Getenv("HOSTILE_LONG") == "" {
			return // each is 24 days (HOSTILE_LONG=1 plays them all)
		}
		got := compute(days, &h)
		fair := 2 * days * 24 * time.Hour / 3
		least := 2*fair - 2*debt.Overdraft - 2*24*time.Hour
		if h.uses > 1 { // it slows down the tasks next to it, whose projects pay for their CPUs all the same
			least -= debt.Overdraft * 2 / 3
		}
		if h.light {
			least -= days * 24 * time.Hour / 4 // so much use still counts as little
		}
		if honest := got[0] + got[1]; honest < least {
			t.Fatalf("%+v: the honest projects got %v of %v, want %v at least", h, honest, 2*fair, least)
		}
		if a, b := got[0], got[1]; min(a, b) < fair-2*debt.Overdraft {
			t.Fatalf("%+v: the honest projects got %v and %v", h, a, b)
		}
	})
}
