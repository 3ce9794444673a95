// Package credit decides what valid results are worth, in BOINC's unit, and keeps
// recent averages of it. It is pure: values in, values out. That each result is
// rewarded once is seen to by the validator and the store.
package credit

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/starling-grid/starling/internal/words"
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

// A Policy defines how an application rewards results. The zero Policy rewards them by flops.
type Policy struct {
	kind   kind
	amount float64 // of fixed
}

// Parse parses a policy: "flops", "fixed:N" or "runtime". The empty string means flops.
func Parse(s string) (Policy, error) {
	switch number, isFixed := strings.CutPrefix(s, "fixed:"); {
	case s == "" || s == "flops":
		return Policy{}, nil
	case s == "runtime":
		return Policy{kind: byRuntime}, nil
	case isFixed:
		n, err := strconv.ParseFloat(number, 64)
		if err != nil || !(n > 0 && n <= Max) {
			return Policy{}, fmt.Errorf("credit %q: want fixed: and a number above 0, up to %v", s, words.Float(Max))
		}
		return Policy{kind: fixed, amount: n}, nil
	}
	return Policy{}, fmt.Errorf("credit %q: want flops, fixed:N or runtime", s)
}

// ByRuntime reports whether claims depend on run times, so that Facts need them.
func (p Policy) ByRuntime() bool { return p.kind == byRuntime }

// Facts are the known facts about a workunit and one of its results.
type Facts struct {
	Fixed      float64 // the workunit's own credit for each of its results (0: none set)
	FpopsEst   float64 // operations that it should need
	FpopsBound float64 // and at most

	Seconds   float64       // that the result took
	Benchmark float64       // operations a second by the host's benchmark, on all CPUs that the result uses
	Version   speed.Version // votes of hosts on its app version
	// Anonymous: it was computed with the volunteer's own program, and Version has the votes of
	// hosts on the project's versions for the CPUs.
	Anonymous bool
}

// Claim returns the credit that a result is worth on its own, 0 to Max:
//
//   - the workunit's own credit, if it has one;
//   - fixed:N: N;
//   - flops: rsc_fpops_est · 200 / 86400e9. The time that the host took for it and the
//     benchmark that it reports make no difference, so no host can claim more by being
//     slow;
//   - runtime: seconds · benchmark · 200 / 86400e9, at most ten times the value for the
//     median of the version's hosts, or, as long as that is unknown, the value for
//     rsc_fpops_bound. With a volunteer's own program: the value of that median for
//     rsc_fpops_est, however long it took, as the volunteer can report any benchmark.
//
// Source of the last: BOINC sched/credit.cpp, get_pfc and wu_estimated_pfc. Different here: the
// host's own average makes no difference.
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

// Grant returns the credit that each valid result of a workunit gets: the median of their claims,
// of an even number the lower one in the middle. So with a quorum of two a host cannot get more by
// claiming more.
func Grant(claims []float64) float64 {
	if len(claims) == 0 {
		return 0
	}
	return slices.Sorted(slices.Values(claims))[(len(claims)-1)/2]
}
