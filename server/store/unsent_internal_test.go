package store

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// A host with less than AtLeast cannot have any result of the kind, and the numbers that people
// write are met exactly.
func TestAtLeastIsTheLeastOfAKind(t *testing.T) {
	for _, x := range []float64{1, 9, 10, 99, 1e6, 1e7, 5e8, 1e9, 2.5e9, 250e6, 3e3, 7e11} {
		if got := AtLeast(x); got > x || got < x*(1-1e-9) {
			t.Errorf("AtLeast(%v) = %v", x, got)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Float64Range(1e-3, 1e18).Draw(t, "x")
		y := x * rapid.Float64Range(0.85, 1.2).Draw(t, "ratio")
		if got := AtLeast(x); got > x || got < x/1.1*(1-1e-9) {
			t.Fatalf("AtLeast(%v) = %v", x, got)
		}
		if digits(x) == digits(y) && AtLeast(x) > y {
			t.Fatalf("%v and %v are of one kind, but AtLeast(%[1]v) = %v", x, y, AtLeast(x))
		}
		if h := AtLeastHalf(x); h > x || h < x/2 {
			t.Fatalf("AtLeastHalf(%v) = %v", x, h)
		}
	})
	for _, x := range []float64{0, -1, math.Inf(1), math.NaN()} {
		if AtLeast(x) != 0 || digits(x) != -1 {
			t.Errorf("of %v: %v, %v", x, AtLeast(x), digits(x))
		}
	}
}
