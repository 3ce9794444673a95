package appipc

import (
	"math"
	"time"

	"github.com/starling-grid/starling/protocol/bxml"
)

// BOINC writes seconds and bytes as floats. Only the functions here convert them to Go's types. A
// value that does not fit becomes the nearest one that does.

func duration(s *bxml.Scanner, d *time.Duration) {
	v := d.Seconds()
	s.Float(&v)
	*d = seconds(v)
}

func seconds(v float64) time.Duration {
	const limit = math.MaxInt64 / float64(time.Second)
	switch {
	case v >= limit:
		return math.MaxInt64
	case v <= -limit:
		return math.MinInt64
	}
	return time.Duration(math.Round(v * float64(time.Second)))
}

func bytesOf(s *bxml.Scanner, n *int64) {
	v := float64(*n)
	s.Float(&v)
	const limit = 1 << 62
	*n = int64(min(max(v, -limit), limit))
}

func instant(s *bxml.Scanner, t *time.Time) {
	var v float64
	s.Float(&v)
	if v > 0 && v < 1<<40 {
		sec, frac := math.Modf(v)
		*t = time.Unix(int64(sec), int64(frac*1e9))
	}
}

// unix returns t in BOINC's seconds. The zero time is 0.
func unix(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return float64(t.UnixMicro()) / 1e6
}

func integer(s *bxml.Scanner, n *int) {
	v := int64(*n)
	s.Int(&v)
	*n = int(v)
}
