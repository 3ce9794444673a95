// Package speed learns how fast hosts compute with an app version, from the time that their valid
// results took, and estimates the time of further results.
//
// Times are measured relative to the operator's estimate: in elapsed seconds per floating point
// operation of rsc_fpops_est. An estimate that is wrong by some factor is thus learned together
// with the speed, and the resulting times are right.
//
// A host's own Average describes that host alone. Facts that hosts have in common are in their
// Votes: each host with a version has one vote, whatever it reports, so that a host does not gain
// influence by sending more results. A Version has the median of the votes.
//
// The package is pure: it computes values from values. It does not store anything and does not
// decide which results count. The validator calls Add only for results that were found valid.
//
// Source for the idea: BOINC lib/average.cpp, sched/credit.cpp and sched/sched_version.cpp keep
// such averages (et of host_app_version, pfc of app_version) with limits against outliers.
// Different here: an average gives way to a run of outliers, a version is the median of its hosts
// and not the average of its results, and a new version begins with what was learnt of the older
// ones.
package speed

const (
	// limit is the factor from the mean beyond which a sample is an outlier and
	// counts as if it were there.
	limit = 10
	// memory is the number of samples that an average remembers: each further one counts 1/memory.
	// The average follows a host that changes, and still smooths out a sample that differs.
	memory = 50
	// run is the number of outliers in a row, all on one side, that replace an average: something
	// has changed, the operator's estimate for example. It is the number of samples from which an
	// average is trusted.
	run = Enough
	// fastest and slowest are the limits for a sample, in seconds per operation. A sample beyond
	// them comes from a broken clock or a meaningless estimate.
	fastest, slowest = 1e-20, 1e4
)

// An Average is the average elapsed time per estimated floating point operation, in seconds, of one
// host's results with one app version. The zero Average has no samples.
type Average struct {
	N    int64   `db:"n"`   // samples
	Mean float64 `db:"avg"` // seconds per operation (0 without samples)
	Var  float64 `db:"var"` // variance, of the same samples with the same weights

	// The last samples, if they were outliers that lie on one side.
	Odd     int64   `db:"odd"`     // number of these, below 0 if they are below the mean
	OddMean float64 `db:"odd_avg"` // their mean
}

// Add returns a with the sample of a result that took so many seconds and was estimated at so many
// operations. An invalid sample changes nothing.
//
// The first samples count alike, later ones 1/50. One that is more than a factor of 10 away from
// the mean counts as if it were that far away, so that a single one moves the mean by no more than
// +900 %/n or −90 %/n, with n the smaller of 50 and the number of samples. Ten such in a row, all
// above or all below, replace the average by their own.
func (a Average) Add(seconds, fpops float64) Average {
	x := seconds / fpops
	if !(x >= fastest && x <= slowest) {
		return a
	}
	if a.N <= 0 || !(a.Mean > 0) {
		return Average{N: 1, Mean: x}
	}
	side := int64(0)
	switch {
	case x > a.Mean*limit:
		side = 1
	case x < a.Mean/limit:
		side = -1
	}
	if side == 0 {
		a.Odd, a.OddMean = 0, 0
		return a.take(x)
	}
	if a.Odd*side <= 0 {
		a.Odd, a.OddMean = 0, 0
	}
	a.Odd += side
	a.OddMean += (x - a.OddMean) / float64(a.Odd*side)
	if a.Odd*side >= run {
		// The variance of the outliers is unknown, so the relative variance is assumed to be as
		// before.
		return Average{N: run, Mean: a.OddMean, Var: a.Var * (a.OddMean / a.Mean) * (a.OddMean / a.Mean)}
	}
	return a.take(min(max(x, a.Mean/limit), a.Mean*limit))
}

// take moves mean and variance towards a sample.
//
// Source: West, Updating mean and variance estimates, CACM 22 (1979), with a weight
// that stops falling.
func (a Average) take(x float64) Average {
	a.N++
	w := 1 / float64(min(a.N, memory))
	d := x - a.Mean
	a.Mean += w * d
	a.Var = (1 - w) * (a.Var + w*d*d)
	return a
}

// Flops returns the operations a second at which results are done on average, or 0
// without samples.
func (a Average) Flops() float64 {
	if a.Mean <= 0 {
		return 0
	}
	return 1 / a.Mean
}
