package decide_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/starling-grid/starling/contact"
	"github.com/starling-grid/starling/decide"
	"github.com/starling-grid/starling/jobsched"
	"github.com/starling-grid/starling/resource"
)

// many returns a computer with three projects and n tasks: most can run, some wait for files, are
// sent or reported, and deadlines are anything from hours to months off.
func many(n int) decide.Snapshot {
	s := decide.Snapshot{Now: now, Elapsed: time.Second, CPUs: 16, Memory: 64 << 30, Low: 3 * time.Hour, High: 15 * time.Hour, Slice: time.Hour}
	for i := range 3 {
		s.Projects = append(s.Projects, decide.Project{
			URL: fmt.Sprintf("https://%d.example/", i), Share: 100, Debt: float64(i-1) * 1e4, Known: true, Schedulers: 1,
			Contact: contact.State{MinRPCTime: now.Add(-time.Hour)}, JobTime: time.Hour, Latency: 240 * time.Hour,
			Estimates: jobsched.Estimator{Results: 9, Ratio: 1},
		})
	}
	phases := []decide.Phase{decide.Runnable, decide.Runnable, decide.Runnable, decide.Fetching, decide.Runnable, decide.Sending, decide.Runnable, decide.Ready}
	for i := range n {
		s.Results = append(s.Results, decide.Result{
			ID: fmt.Sprintf("task_%d_0", i), Project: i % 3, Phase: phases[i%len(phases)], Usage: resource.Usage{CPUs: 1, Memory: 100 << 20},
			Stated: time.Duration(1+i%7) * time.Hour, Received: now.Add(-time.Hour), Deadline: now.Add(time.Duration(2+i%2000) * time.Hour),
			Completed: now, Running: i < 16 && phases[i%len(phases)] == decide.Runnable, Ran: time.Minute, Started: i < 16,
		})
	}
	return s
}

// BenchmarkPass10000 measures a pass with as many tasks as one project may have here.
func BenchmarkPass10000(b *testing.B) {
	for _, n := range []int{1000, 10_000, 20_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := many(n)
			b.ReportAllocs()
			for b.Loop() {
				decide.Decide(s)
			}
		})
	}
}
