// Package debt keeps each project's long-term debt: the computing that it is owed for its resource
// share and has not received. It is policy: values in, values out.
//
// There is one debt for all processors of a computer, in seconds of a CPU. A second on a
// coprocessor counts for as many as its peak speed is a CPU's (resource.Usage.Speed). So a project
// that has work for one kind of processor only gets its share of the whole computer from that kind,
// as far as possible (Claims).
//
// A project's claim grows with all computing of the computer, whether or not the project has work
// just then. The computing that it gets is subtracted. So a project that seldom has work, or whose
// server was down, catches up when it is back. Three rules make this safe. Only the volunteer's own
// wish (suspended, no more work) takes a project out of the calculation, so that no reason for
// getting nothing can be forgotten in a list. Claims are bounded, and the amount beyond the bound
// is divided among the others. And the sum over the projects that count is zero at all times, so
// that a new project starts equal and a detached one leaves no trace.
package debt

import (
	"math"
	"time"
)

// Horizon bounds a debt: a project is owed, or owes, at most the computing in this time of all
// processors that it has work for. It is longer than an outage that a project survives, and short
// enough for a computer to return to its shares within weeks.
const Horizon = 14 * 24 * time.Hour

// Overdraft is the debt, likewise, up to which a project's deadlines and queue may keep others
// waiting. The project itself states these, and Overdraft is the maximum cost of relying on its
// statements.
const Overdraft = Horizon / 2

// maxInterval is the longest interval that counts. During a longer one the computer slept or its
// clock jumped, and no project has a claim to that time.
const maxInterval = time.Hour

// MaxKinds is the number of kinds of processors that are distinguished.
const MaxKinds = 8

// PerKind is a number for each kind of processor, the CPUs first.
type PerKind [MaxKinds]float64

// A Project is the input of the calculation about one project.
type Project struct {
	Debt    float64        // seconds of a CPU (positive: it is owed)
	Share   float64        // resource share
	Counts  bool           // the volunteer wants work from it
	Used    PerKind        // seconds of a CPU that it got in the interval
	Without [MaxKinds]bool // by its own statement, it has no work for this kind
}

// has reports whether the project can get anything of a kind of processor.
func (p *Project) has(k int) bool { return !p.Without[k] || p.Used[k] > 0 }

// Bound returns the maximum that a project may be owed, or owe, on a computer with so many of each
// kind of processor, in CPUs.
func (p *Project) Bound(sizes PerKind) float64 {
	size := 0.0
	for k, n := range sizes {
		if p.has(k) {
			size += n
		}
	}
	return Horizon.Seconds() * max(size, 1)
}

// Settle returns the debts after an interval of wall time in which the projects got the computing
// in Used, on a computer with so many of each kind of processor, in CPUs. The debts of projects
// that count sum to zero. The debt of any other is 0. The order of the projects does not matter. An
// interval that is negative or too long to be true only changes claims as far as the set of
// projects itself requires.
func Settle(ps []Project, interval time.Duration, sizes PerKind) []float64 {
	debts := make([]float64, len(ps))
	valid := interval > 0 && interval <= maxInterval
	for i, p := range ps {
		if p.Counts {
			debts[i] = p.Debt
		}
	}
	if valid {
		claims := Claims(ps)
		for i, p := range ps {
			if !p.Counts {
				continue
			}
			debts[i] += claims[i]
			for _, used := range p.Used {
				debts[i] -= used
			}
		}
	}
	balance(ps, debts, sizes)
	return debts
}

// balance brings the sum of the debts of the projects that count to zero, each within its bound.
// The difference is distributed by resource share, since that is how claims arise. Projects at the
// bound take no part.
func balance(ps []Project, debts []float64, sizes PerKind) {
	for range len(ps) + 1 {
		sum, weight := 0.0, 0.0
		for i := range ps {
			if !ps[i].Counts {
				continue
			}
			bound := ps[i].Bound(sizes)
			debts[i] = math.Max(-bound, math.Min(debts[i], bound))
			sum += debts[i]
		}
		if math.Abs(sum) < 1e-6 {
			return
		}
		open := func(i int) bool {
			bound := ps[i].Bound(sizes)
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
