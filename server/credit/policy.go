// Package credit decides what valid results are worth, in BOINC's unit, and keeps
// recent averages of it. It is pure: values in, values out. That each result is
// rewarded once is seen to by the validator and the store.
package credit

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/starling-grid/starling/server/speed"
)

// perFLOP is BOINC's unit of credit, the cobblestone: 200 of them a day for a computer
// of 1 GFLOPS.
const perFLOP = 200 / 86400e9

// Max bounds what one result may bring, as BOINC's validators do.
const Max = 7.3e7

// disbelief is the factor over what hosts on the whole need that a claim by run time
// may have.
const disbelief = 10

type kind int

const (
	byFlops kind = iota
	fixed
	byRuntime
)

// A Policy is how an application rewards results. The zero Policy is that of flops.
type Policy struct {
	kind   kind
	amount float64 // of fixed
}

// Parse reads a policy: "flops", "fixed:N" or "runtime"; "" is flops.
func Parse(s string) (Policy, error) {
	switch number, isFixed := strings.CutPrefix(s, "fixed:"); {
	case s == "" || s == "flops":
		return Policy{}, nil
	case s == "runtime":
		return Policy{kind: byRuntime}, nil
	case isFixed:
		n, err := strconv.ParseFloat(number, 64)
		if err != nil || !(n > 0 && n <= Max) {
			return Policy{}, fmt.Errorf("credit %q: want fixed: and a number above 0, up to %g", s, Max)
		}
		return Policy{kind: fixed, amount: n}, nil
	}
	return Policy{}, fmt.Errorf("credit %q: want flops, fixed:N or runtime", s)
}

// ByRuntime reports whether claims depend on run times, so that Facts need them.
func (p Policy) ByRuntime() bool { return p.kind == byRuntime }

// Facts are what is known of a workunit and one of its results.
type Facts struct {
	Fixed      float64 // what the workunit says that each of its results is worth; 0: nothing
	FpopsEst   float64 // operations that it should need
	FpopsBound float64 // and at most

	Seconds   float64       // that the result took
	Benchmark float64       // operations a second by the host's benchmark, on all CPUs that the result uses
	Version   speed.Version // what hosts say of its app version
	// Anonymous: it was computed with a program of the volunteer's own, and Version is what
	// hosts say of the project's versions for the CPUs.
	Anonymous bool
}

// Claim returns what a result is worth by itself, 0 to Max:
//
//   - as the workunit says, if it does;
//   - fixed:N: N;
//   - flops: rsc_fpops_est · 200 / 86400e9. What the host took for it, or tells of its
//     benchmark, makes no difference, so no host can claim more by being slow;
//   - runtime: seconds · benchmark · 200 / 86400e9, at most ten times what the median of
//     the version's hosts would have, or, so long as that is not known, what
//     rsc_fpops_bound allows. With a volunteer's own program: what that median is for
//     rsc_fpops_est, however long it took, as its benchmark is whatever the volunteer
//     says.
//
// Source of the last: BOINC sched/credit.cpp, get_pfc and wu_estimated_pfc. Different
// here: the host's own average makes no difference.
func (p Policy) Claim(f Facts) float64 {
	c := f.FpopsEst * perFLOP
	switch {
	case f.Fixed > 0:
		c = f.Fixed
	case p.kind == fixed:
		c = p.amount
	case p.kind == byRuntime && f.Anonymous:
		if f.Version.Hosts >= speed.Quorum {
			c *= f.Version.Stretch
		}
	case p.kind == byRuntime:
		most := f.FpopsBound * perFLOP
		if f.Version.Hosts >= speed.Quorum {
			most = f.FpopsEst * f.Version.Stretch * perFLOP * disbelief
		}
		c = min(f.Seconds*f.Benchmark*perFLOP, most)
	}
	if !(c > 0) {
		return 0
	}
	return min(c, Max)
}

// Grant returns what the valid results of a workunit get, each of them: the median of
// their claims, of an even number the lower one in the middle. So with a quorum of two
// nobody gets more for claiming more.
func Grant(claims []float64) float64 {
	if len(claims) == 0 {
		return 0
	}
	return slices.Sorted(slices.Values(claims))[(len(claims)-1)/2]
}
