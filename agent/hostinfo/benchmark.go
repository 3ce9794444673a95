package hostinfo

import (
	"runtime"
	"time"
)

// Speeds are the speeds of one CPU, in operations a second.
type Speeds struct{ Fpops, Iops float64 }

// Measure measures the speed of one CPU, in about half a second. The loops contain several
// independent chains of dependent operations, so they measure throughput as applications get it,
// not latency or vector units. Servers use the numbers only for estimates.
func Measure() Speeds {
	return Speeds{Fpops: best(floats), Iops: best(integers)}
}

// best runs a loop for a while and returns its best rate, since disturbances only make a
// measurement slower.
func best(loop func(rounds int) (operations int, keep float64)) float64 {
	const rounds, spell = 200_000, 250 * time.Millisecond
	rate, kept := 0.0, 0.0
	for start := time.Now(); time.Since(start) < spell; {
		began := time.Now()
		n, keep := loop(rounds)
		if d := time.Since(began).Seconds(); d > 0 {
			rate = max(rate, float64(n)/d)
		}
		kept += keep
	}
	runtime.KeepAlive(kept) // otherwise the compiler may remove the loops
	return rate
}

func floats(rounds int) (int, float64) {
	a, b, c, d := 1.0, 1.1, 1.2, 1.3
	for range rounds {
		a = a*0.999999 + 0.000001
		b = b*0.999998 + 0.000002
		c = c*0.999997 + 0.000003
		d = d*0.999996 + 0.000004
	}
	return rounds * 8, a + b + c + d
}

func integers(rounds int) (int, float64) {
	a, b, c, d := uint64(1), uint64(2), uint64(3), uint64(4)
	for range rounds {
		a = a*5 + 1
		b = b*5 + 3
		c = (c ^ a) + 7
		d = (d ^ b) + 9
	}
	return rounds * 8, float64(a ^ b ^ c ^ d)
}
