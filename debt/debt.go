// Package debt keeps each project's long-term debt: the CPU time that it is owed
// for its resource share and has not got. It is policy: values in, values out.
//
// A project's claim grows with all that the computer does, whether or not the
// project has work just then; what it gets is taken off. So a project that seldom
// has work, or whose server was down, catches up when it is back. What makes this
// safe are three rules. Only the volunteer's own wish (suspended, no more work)
// takes a project out of the reckoning, so that no reason for getting nothing can
// be forgotten in a list. Claims are bounded, and what is beyond the bound is
// shared out among the others. And the sum over the projects that count is zero
// at all times, so that a new project starts on a par and one that is detached
// leaves no trace.
package debt

import (
	"math"
	"time"
)

// Horizon bounds a debt: a project is owed, or owes, at most what all CPUs
// compute in this time. It is longer than an outage that a project survives, and
// short enough for a computer to come back to its shares within weeks.
const Horizon = 14 * 24 * time.Hour

// Overdraft is what a project may owe, likewise, before its deadlines and its queue
// stop keeping others waiting: those are its own word, and this is what believing it
// can cost.
const Overdraft = Horizon / 2

// maxInterval is the longest interval that counts: in a longer one the computer
// slept or its clock jumped, and nobody has a claim to that time.
const maxInterval = time.Hour

// A Project is what the reckoning needs to know of one.
type Project struct {
	Debt   float64 // CPU-seconds; positive: it is owed
	Share  float64 // resource share
	Counts bool    // the volunteer wants work from it
	Used   float64 // CPU-seconds it got in the interval
}

// Settle returns the debts after an interval of wall time in which the projects
// got what their Used says, on the given number of CPUs. The debts of projects
// that count sum to zero; of the others it is 0. The order of the projects does
// not matter. An interval that is negative or too long to be true changes no
// claim but those that the set of projects itself demands.
func Settle(ps []Project, interval time.Duration, cpus int) []float64 {
	debts := make([]float64, len(ps))
	total, shares, n := 0.0, 0.0, 0
	valid := interval > 0 && interval <= maxInterval
	for i, p := range ps {
		if !p.Counts {
			continue
		}
		n++
		shares += p.Share
		debts[i] = p.Debt
		if valid {
			total += p.Used
		}
	}
	if n == 0 {
		return debts
	}
	if valid && shares > 0 {
		for i, p := range ps {
			if p.Counts {
				debts[i] += p.Share/shares*total - p.Used
			}
		}
	}
	balance(ps, debts, Horizon.Seconds()*float64(max(cpus, 1)))
	return debts
}

// balance brings the debts of the projects that count to a sum of zero, within
// ±bound each. What is to be added or taken goes by resource share, since that is
// how claims arise; those at the bound take no part.
func balance(ps []Project, debts []float64, bound float64) {
	for range len(ps) + 1 {
		sum, weight := 0.0, 0.0
		for i, p := range ps {
			if !p.Counts {
				continue
			}
			debts[i] = math.Max(-bound, math.Min(debts[i], bound))
			sum += debts[i]
		}
		if math.Abs(sum) < 1e-6 {
			return
		}
		open := func(i int) bool {
			return ps[i].Counts && (sum > 0 && debts[i] > -bound || sum < 0 && debts[i] < bound)
		}
		for i, p := range ps {
			if open(i) {
				weight += math.Max(p.Share, 1e-9)
			}
		}
		for i, p := range ps {
			if open(i) {
				debts[i] -= sum * math.Max(p.Share, 1e-9) / weight
			}
		}
	}
}
