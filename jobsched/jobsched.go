// Package jobsched decides which results run now, and says of every other one
// why it does not. It is policy: values in, values out.
package jobsched

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// A Job is a result that could run.
type Job struct {
	ID        string
	CPUs      float64 // it uses; 0 means 1
	Deadline  time.Time
	Received  time.Time
	Running   bool
	NotBefore time.Time // the application asked to be started no earlier
}

// A Code tells one reason from another.
type Code string

// The reasons.
const (
	Run       Code = "run"
	NoCPU     Code = "no_cpu_free"
	Postponed Code = "postponed"
)

// A Reason is what was decided for one job, and why.
type Reason struct {
	Code  Code
	Text  string    // one sentence for people
	Until time.Time // when it changes; zero: not known
}

// Choose returns a reason for each job, in their order. Jobs that run go on;
// free CPUs go to the earliest deadline, then to what came first.
func Choose(now time.Time, cpus int, jobs []Job) []Reason {
	order := make([]int, len(jobs))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		x, y := jobs[a], jobs[b]
		return cmp.Or(
			cmp.Compare(rank(x), rank(y)), x.Deadline.Compare(y.Deadline),
			x.Received.Compare(y.Received), cmp.Compare(x.ID, y.ID),
		)
	})
	reasons := make([]Reason, len(jobs))
	free := float64(cpus)
	for _, i := range order {
		j := jobs[i]
		need := j.CPUs
		if need <= 0 {
			need = 1
		}
		switch {
		case now.Before(j.NotBefore):
			reasons[i] = Reason{Postponed, "The application asked to be started again later.", j.NotBefore}
		case free >= min(need, float64(cpus)) && free > 0:
			free -= need
			reasons[i] = Reason{Code: Run, Text: "Running."}
		default:
			reasons[i] = Reason{Code: NoCPU, Text: fmt.Sprintf("All %d CPUs that may be used are busy (max_ncpus_pct).", cpus)}
		}
	}
	return reasons
}

func rank(j Job) int {
	if j.Running {
		return 0
	}
	return 1
}
