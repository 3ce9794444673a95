package speed

import (
	"math"
	"slices"
)

const (
	// step is the factor between neighbouring votes.
	step = 1.1
	// middle is the vote for a stretch of 1.
	middle = 100
	// MaxVote is the highest vote. The lowest is 1.
	MaxVote = 2*middle - 1
)

// A Vote is a host's measure of an app version: the time of its results relative to the time by its
// benchmark. This factor, the stretch, has steps of 10 % from 1/12 500 to 12 500. The zero Vote
// means unknown.
//
// A host reports its benchmark as well as its times. A lie about either affects one vote only.
type Vote int

// Revote returns the new vote of a host whose vote was v and whose results take the given average.
// benchmark is the speed, in operations a second, that they should have by the benchmark. A vote
// stays until it is clearly wrong, so that votes rarely change. Revote returns v if either is
// unknown.
func (v Vote) Revote(a Average, benchmark float64) Vote {
	if a.N <= 0 || !(a.Mean > 0) || !(benchmark > 0) || math.IsInf(benchmark, 0) {
		return v
	}
	exact := middle + math.Log(a.Mean*benchmark)/math.Log(step)
	if v > 0 && math.Abs(exact-float64(v)) < 0.75 {
		return v
	}
	return Vote(min(max(math.Round(exact), 1), MaxVote))
}

// Stretch returns the factor of the vote, or 1 for the zero Vote.
func (v Vote) Stretch() float64 {
	if v == 0 {
		return 1
	}
	return math.Pow(step, float64(v-middle))
}

// A Count is the number of hosts with the same vote.
type Count struct {
	Vote  Vote
	Hosts int
}

// A Version is the summary of the hosts' votes on an app version, or on all versions of an
// application.
type Version struct {
	Hosts   int     // that have voted
	Stretch float64 // the median of their votes (0 without any)
	Spread  float64 // standard deviation of the votes' natural logarithms
}

// Tally counts votes. The median limits the effect of liars. While they are fewer than half of the
// hosts, the stretch is one that honest hosts have, or is between two of theirs. One more host,
// whatever its vote, moves it to the neighboring vote at most.
func Tally(counts []Count) Version {
	counts = slices.Clone(counts)
	slices.SortFunc(counts, func(a, b Count) int { return int(a.Vote - b.Vote) })
	var v Version
	var sum, squares float64
	for _, c := range counts {
		if c.Vote <= 0 || c.Hosts <= 0 {
			continue
		}
		x := math.Log(c.Vote.Stretch())
		v.Hosts += c.Hosts
		sum += x * float64(c.Hosts)
		squares += x * x * float64(c.Hosts)
	}
	if v.Hosts == 0 {
		return v
	}
	n := float64(v.Hosts)
	v.Spread = math.Sqrt(max(0, squares/n-(sum/n)*(sum/n)))
	// With an even number of hosts the median lies between the two in the middle.
	low, high := nth(counts, (v.Hosts-1)/2), nth(counts, v.Hosts/2)
	v.Stretch = math.Sqrt(low.Stretch() * high.Stretch())
	return v
}

// nth returns the vote of the n-th host, from 0, by ascending votes.
func nth(sorted []Count, n int) Vote {
	for _, c := range sorted {
		if c.Vote <= 0 || c.Hosts <= 0 {
			continue
		}
		if n < c.Hosts {
			return c.Vote
		}
		n -= c.Hosts
	}
	return 0
}
