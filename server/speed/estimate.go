package speed

const (
	// Enough is the number of samples from which a host's own average is used. Run times that
	// differ by half of their mean give an average that is right to 16 % then.
	// Source: MIN_HOST_SAMPLES of BOINC's sched/credit.h.
	Enough = 10
	// some is the number of samples from which it is used if the only alternative is the benchmark,
	// which is often wrong by a factor.
	some = 3
	// Quorum is the number of hosts from which votes count: two liars among five do not reach the
	// median. BOINC requires 100 results of a version, which one host can report alone.
	Quorum = 5
	// least and most bound an estimate, in operations a second.
	least, most = 1 / slowest, 1 / fastest
)

// Known is all that is known of a host and an app version. Zero values are not known.
type Known struct {
	Benchmark float64 // operations a second by the host's benchmark and the plan class
	Own       Average // of this host with this version
	Version   Version // votes of hosts on this version
	Other     Vote    // of this host, on another version of the application with Enough samples
	App       Version // votes of hosts on the application's other versions
}

// A Source is the basis of an estimate.
type Source string

// The sources.
const (
	FromHost      Source = "host"        // the host's own results with this version
	FromVersion   Source = "version"     // other hosts' results with this version
	FromHostOther Source = "host_other"  // the host's own results with another version
	FromApp       Source = "application" // other hosts' results with other versions
	FromBenchmark Source = "benchmark"
)

// Flops estimates the speed of a version on a host, in operations a second of the kind that
// rsc_fpops_est counts. It also returns the basis of the estimate. The first of these that is known
// is used:
//
//  1. the host's own average, from 10 samples on
//  2. the median of the version's votes, from 5 hosts on, with the host's benchmark
//  3. the host's own vote on another version of the application, with the benchmark, because
//     a new version does not change the error in the operator's estimate
//  4. the median of the votes on all other versions, likewise
//  5. the host's own average, from 3 samples on
//  6. the benchmark
//
// The result is above 0 and finite if the benchmark is.
func Flops(k Known) (float64, Source) {
	flops, from := k.Benchmark, FromBenchmark
	switch {
	case k.Own.N >= Enough && k.Own.Mean > 0:
		flops, from = k.Own.Flops(), FromHost
	case k.Version.Hosts >= Quorum:
		flops, from = k.Benchmark/k.Version.Stretch, FromVersion
	case k.Other > 0:
		flops, from = k.Benchmark/k.Other.Stretch(), FromHostOther
	case k.App.Hosts >= Quorum:
		flops, from = k.Benchmark/k.App.Stretch, FromApp
	case k.Own.N >= some && k.Own.Mean > 0:
		flops, from = k.Own.Flops(), FromHost
	}
	return min(max(flops, least), most), from
}

// Trial reports whether a host should try a version although another is faster, so that a version
// with too few run times is not left out forever. Every tenth request of a host goes to it, until
// enough hosts for an estimate have voted, or the host's own average can be used. A version that
// seems to take more than four times as long is not tried.
//
// turn is a number that rises with each request of the host.
//
// Source for the aim: BOINC sched/sched_version.cpp, get_app_version, whose random factor on speeds
// falls with the number of samples. That leaves out what seems slower by much more than a tenth.
func Trial(k Known, flops, best float64, turn int64) bool {
	return turn%10 == 0 && k.Version.Hosts < Quorum && k.Own.N < Enough && flops*4 >= best
}
