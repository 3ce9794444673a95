package speed_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/starling-grid/starling/server/speed"
)

func near(got, want, tolerance float64) bool { return math.Abs(got/want-1) <= tolerance }

// feed adds n samples of x seconds an operation.
func feed(a speed.Average, x float64, n int) speed.Average {
	for range n {
		a = a.Add(x*1e12, 1e12)
	}
	return a
}

func TestAverageIsTheMean(t *testing.T) {
	var a speed.Average
	for _, seconds := range []float64{100, 200, 300, 400} {
		a = a.Add(seconds, 1e12)
	}
	if a.N != 4 || !near(a.Mean, 250e-12, 1e-9) || !near(a.Var, 12500e-24, 1e-9) {
		t.Errorf("got %+v, want mean 250e-12, variance 12500e-24", a)
	}
	if !near(a.Flops(), 4e9, 1e-9) {
		t.Errorf("%v operations a second", a.Flops())
	}
}

func TestAverageOfChanges(t *testing.T) {
	for _, tt := range []struct {
		name string
		a    speed.Average
		want float64
	}{
		{"a host that became twice as fast", feed(feed(speed.Average{}, 2e-9, 200), 1e-9, 200), 1e-9},
		{"an estimate put right, ten results later", feed(feed(speed.Average{}, 1e-8, 200), 0.5e-9, 10), 0.5e-9},
		{"a first result that hung", feed(feed(speed.Average{}, 1e-5, 1), 1e-9, 10), 1e-9},
		{"a first result that did nothing", feed(feed(speed.Average{}, 1e-13, 1), 1e-9, 150), 1e-9},
		{"one result in 200 that hung", feed(feed(feed(speed.Average{}, 1e-9, 100), 1e-5, 1), 1e-9, 100), 1e-9},
	} {
		if !near(tt.a.Mean, tt.want, 0.05) || tt.a.N < speed.Enough {
			t.Errorf("%s: got %+v, want mean %v", tt.name, tt.a, tt.want)
		}
	}
}

func TestWhatIsNoSampleIsPassedOver(t *testing.T) {
	a := feed(speed.Average{}, 1e-9, 3)
	for _, x := range [][2]float64{{0, 1e12}, {-1, 1e12}, {math.NaN(), 1}, {1, 0}, {0, 0}, {math.Inf(1), 1}, {1, math.Inf(1)}, {1e9, 1}} {
		if got := a.Add(x[0], x[1]); got != a {
			t.Errorf("%v seconds for %v operations: got %+v", x[0], x[1], got)
		}
	}
}

func samples(t *rapid.T) speed.Average {
	var a speed.Average
	for _, e := range rapid.SliceOfN(rapid.Float64Range(-19, 3), 1, 120).Draw(t, "exponents") {
		a = a.Add(math.Pow(10, e), 1)
	}
	return a
}

func TestOneSampleMovesAnAverageWithinTheBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := samples(t)
		x := math.Pow(10, rapid.Float64Range(-25, 10).Draw(t, "sample"))
		b := a.Add(x, 1)
		if b.Mean <= 0 || b.Var < 0 || math.IsInf(b.Mean, 0) || math.IsNaN(b.Var) || math.IsInf(b.Var, 0) {
			t.Fatalf("%+v after %v", b, x)
		}
		replaced := max(a.Odd, -a.Odd) == speed.Enough-1
		w := 1 / float64(min(a.N+1, 50))
		if up, down := a.Mean*(1+9*w), a.Mean*(1-0.9*w); !replaced && (b.Mean > up*(1+1e-9) || b.Mean < down*(1-1e-9)) {
			t.Fatalf("%v moved %+v to %v, want %v to %v", x, a, b.Mean, down, up)
		}
		if inside := x >= a.Mean && b.Mean < a.Mean*(1-1e-12) || x <= a.Mean && b.Mean > a.Mean*(1+1e-12); inside && x >= 1e-20 && x <= 1e4 {
			t.Fatalf("%v moved %+v away from it, to %v", x, a, b.Mean)
		}
	})
}

func TestLongerSamplesMakeALongerAverage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := samples(t)
		x := a.Mean * math.Pow(10, rapid.Float64Range(-3, 3).Draw(t, "x"))
		y := x * rapid.Float64Range(1, 10).Draw(t, "more")
		if a.Odd != 0 || x < 1e-20 || y > 1e4 {
			t.Skip("a run of outliers may end, or it is no sample")
		}
		if p, q := a.Add(x, 1), a.Add(y, 1); q.Mean < p.Mean*(1-1e-12) {
			t.Fatalf("%v gives %v, %v gives %v", x, p.Mean, y, q.Mean)
		}
	})
}

func TestVote(t *testing.T) {
	a := feed(speed.Average{}, 10e-9, 1)
	v := speed.Vote(0).Revote(a, 1e9)
	if !near(v.Stretch(), 10, 0.05) {
		t.Errorf("ten times as long: %v", v.Stretch())
	}
	if got := v.Revote(feed(speed.Average{}, 10.3e-9, 1), 1e9); got != v {
		t.Errorf("3 %% longer: vote %d, want %d still", got, v)
	}
	if got := v.Revote(feed(speed.Average{}, 12e-9, 1), 1e9); got != v+2 {
		t.Errorf("20 %% longer: vote %d, want %d", got, v+2)
	}
	for _, benchmark := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		if got := v.Revote(a, benchmark); got != v {
			t.Errorf("with benchmark %v: %d", benchmark, got)
		}
	}
	if got := v.Revote(speed.Average{}, 1e9); got != v {
		t.Errorf("without samples: %d", got)
	}
	for benchmark, want := range map[float64]speed.Vote{1e300: speed.MaxVote, 1e-300: 1} {
		if got := v.Revote(a, benchmark); got != want {
			t.Errorf("with benchmark %v: %d, want %d", benchmark, got, want)
		}
	}
}

func TestTally(t *testing.T) {
	v := speed.Tally([]speed.Count{{Vote: 124, Hosts: 2}, {Vote: 100, Hosts: 2}, {Vote: 1, Hosts: 1}, {Vote: 0, Hosts: 99}})
	if v.Hosts != 5 || !near(v.Stretch, 1, 1e-9) || v.Spread < 1 {
		t.Errorf("got %+v", v)
	}
	if v := speed.Tally([]speed.Count{{Vote: 102, Hosts: 1}, {Vote: 100, Hosts: 1}}); !near(v.Stretch, 1.1, 1e-9) || !near(v.Spread, math.Log(1.1), 1e-6) {
		t.Errorf("of two: %+v", v)
	}
	if v := speed.Tally(nil); v != (speed.Version{}) {
		t.Errorf("of none: %+v", v)
	}
}

func counts(votes []int) (out []speed.Count) {
	for _, v := range votes {
		out = append(out, speed.Count{Vote: speed.Vote(v), Hosts: 1})
	}
	return out
}

func TestLiarsDoNotReachTheMedian(t *testing.T) {
	vote := rapid.IntRange(1, speed.MaxVote)
	rapid.Check(t, func(t *rapid.T) {
		honest := rapid.SliceOfN(vote, 2, 40).Draw(t, "honest")
		liars := rapid.SliceOfN(vote, 0, len(honest)-1).Draw(t, "liars")
		got := speed.Tally(counts(append(slices.Clone(honest), liars...))).Stretch
		least, most := speed.Vote(slices.Min(honest)).Stretch(), speed.Vote(slices.Max(honest)).Stretch()
		if got < least*(1-1e-9) || got > most*(1+1e-9) {
			t.Fatalf("stretch %v, honest hosts have %v to %v", got, least, most)
		}
		// One liar among many: no further than to the neighbours of the middle.
		slices.Sort(honest)
		n := len(honest)
		low, high := speed.Vote(honest[max(0, (n-1)/2)]).Stretch(), speed.Vote(honest[n/2]).Stretch()
		if n%2 == 1 {
			low, high = speed.Vote(honest[n/2-1]).Stretch(), speed.Vote(honest[n/2+1]).Stretch()
			if n == 1 {
				low, high = 0, math.Inf(1)
			}
		}
		one := speed.Tally(counts(append(slices.Clone(honest), vote.Draw(t, "liar")))).Stretch
		if one < low*(1-1e-9) || one > high*(1+1e-9) {
			t.Fatalf("one liar moved the stretch to %v, want %v to %v", one, low, high)
		}
	})
}

func TestFlopsComesFromWhatIsKnownBest(t *testing.T) {
	own := func(n int) speed.Average { return feed(speed.Average{}, 1e-8, n) }
	version := func(hosts int) speed.Version {
		return speed.Tally([]speed.Count{{Vote: 117, Hosts: hosts}}) // 5.05 times as long
	}
	for _, tt := range []struct {
		name string
		k    speed.Known
		want float64
		from speed.Source
	}{
		{"nothing but the benchmark", speed.Known{}, 1e9, speed.FromBenchmark},
		{"two samples", speed.Known{Own: own(2)}, 1e9, speed.FromBenchmark},
		{"three samples", speed.Known{Own: own(3)}, 1e8, speed.FromHost},
		{"nine samples and a version of four hosts", speed.Known{Own: own(9), Version: version(4)}, 1e8, speed.FromHost},
		{"nine samples and a version of five hosts", speed.Known{Own: own(9), Version: version(5)}, 1.978e8, speed.FromVersion},
		{"ten samples", speed.Known{Own: own(10), Version: version(500)}, 1e8, speed.FromHost},
		{"a new version on an old host", speed.Known{Other: 109, App: version(9)}, 4.241e8, speed.FromHostOther},
		{"a new version on a new host", speed.Known{App: version(9)}, 1.978e8, speed.FromApp},
		{"a version of few hosts of an app of few", speed.Known{App: version(4), Version: version(4)}, 1e9, speed.FromBenchmark},
	} {
		tt.k.Benchmark = 1e9
		if got, from := speed.Flops(tt.k); !near(got, tt.want, 0.001) || from != tt.from {
			t.Errorf("%s: %v from %s, want %v from %s", tt.name, got, from, tt.want, tt.from)
		}
	}
}

func TestFlopsIsASpeed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := speed.Known{
			Benchmark: math.Pow(10, rapid.Float64Range(-300, 300).Draw(t, "benchmark")),
			Own:       samples(t),
			Version:   speed.Tally([]speed.Count{{Vote: speed.Vote(rapid.IntRange(1, speed.MaxVote).Draw(t, "vote")), Hosts: rapid.IntRange(0, 9).Draw(t, "hosts")}}),
			Other:     speed.Vote(rapid.IntRange(0, speed.MaxVote).Draw(t, "other")),
		}
		if rapid.Bool().Draw(t, "new") {
			k.Own = speed.Average{}
		}
		got, _ := speed.Flops(k)
		if !(got >= 1e-4 && got <= 1e20) {
			t.Fatalf("%v for %+v", got, k)
		}
		// A faster benchmark never makes an estimate slower.
		k.Benchmark *= 2
		if more, _ := speed.Flops(k); more < got {
			t.Fatalf("%v, with twice the benchmark %v", got, more)
		}
	})
}

// A project of hosts that differ, with an estimate that is wrong by 10 and one host in
// five that lies: a host that the project has not seen is estimated to 20 %.
func TestAWrongEstimateIsLearnt(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var counts []speed.Count
	for i := range 50 {
		benchmark := 1e9 * (1 + 3*rng.Float64())
		var a speed.Average
		for range 20 {
			seconds := 1e12 / benchmark * 10 * (0.7 + 0.6*rng.Float64())
			if i%5 == 0 {
				seconds /= 1000
			}
			a = a.Add(seconds, 1e12)
		}
		counts = append(counts, speed.Count{Vote: speed.Vote(0).Revote(a, benchmark), Hosts: 1})
		if got, _ := speed.Flops(speed.Known{Benchmark: benchmark, Own: a}); i%5 != 0 && !near(got, benchmark/10, 0.2) {
			t.Errorf("host %d: %v, want %v", i, got, benchmark/10)
		}
	}
	got, from := speed.Flops(speed.Known{Benchmark: 2e9, Version: speed.Tally(counts)})
	if !near(got, 2e8, 0.2) || from != speed.FromVersion {
		t.Errorf("a new host: %v from %s, want 2e8 from the version", got, from)
	}
}

func TestTrial(t *testing.T) {
	for _, tt := range []struct {
		name        string
		k           speed.Known
		flops, best float64
		turn        int64
		want        bool
	}{
		{"a new version, one request in ten", speed.Known{}, 0.5, 1, 20, true},
		{"the other requests", speed.Known{}, 0.5, 1, 21, false},
		{"a version that is far slower", speed.Known{}, 0.2, 1, 20, false},
		{"a version that is known", speed.Known{Version: speed.Version{Hosts: 5, Stretch: 1}}, 0.5, 1, 20, false},
		{"a version that the host knows", speed.Known{Own: speed.Average{N: 10, Mean: 1}}, 0.5, 1, 20, false},
	} {
		if got := speed.Trial(tt.k, tt.flops, tt.best, tt.turn); got != tt.want {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
}
