package load

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// Quantiles are within one class of the exact values, for any distribution.
func TestQuantiles(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		var l, a, b Latency
		all := make([]time.Duration, 1+rng.IntN(2000))
		for i := range all {
			all[i] = time.Duration(rng.Int64N(1 << (10 + rng.IntN(30))))
			part := &a
			if i%3 == 0 {
				part = &b
			}
			l.Add(all[i])
			part.Add(all[i])
		}
		a.merge(&b)
		slices.Sort(all)
		for _, q := range []float64{0, 0.5, 0.99, 1} {
			want := all[min(int(q*float64(len(all))), len(all)-1)]
			got := l.Quantile(q)
			if diff := (got - want).Abs(); diff > want/64+2*time.Microsecond {
				t.Errorf("quantile %v of %d: got %v, want %v", q, len(all), got, want)
			}
			if a.Quantile(q) != got {
				t.Errorf("quantile %v: %v in one, %v of two parts", q, got, a.Quantile(q))
			}
		}
	}
	if got := new(Latency).Quantile(0.5); got != 0 {
		t.Errorf("median of nothing: %v", got)
	}
}

// A server that sends a new text each time does not fill the memory.
func TestReasonsAreBounded(t *testing.T) {
	var c Counts
	for i := range 1000 {
		c.add(Turn{Refused: []string{fmt.Sprint("reason ", i)}})
	}
	sum := int64(0)
	for _, n := range c.Refused {
		sum += n
	}
	if len(c.Refused) > maxReasons+1 || sum != 1000 {
		t.Errorf("%d reasons, %d times", len(c.Refused), sum)
	}
}
