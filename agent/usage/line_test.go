package usage_test

import (
	"math"
	"testing"
	"time"

	"github.com/starling-grid/starling/agent/usage"
	"github.com/starling-grid/starling/state"
)

func TestMoved(t *testing.T) {
	t0 := time.Unix(1e9, 0)
	l := usage.Moved(state.Line{}, 1e6, 2*time.Second, t0)
	if l.Pace != 5e5 || math.Abs(l.Daily-1e6*math.Ln2/7) > 1 || !l.At.Equal(t0) {
		t.Errorf("the first transfer: got %+v", l)
	}
	if got := usage.Moved(l, 0, time.Second, t0.Add(time.Hour)); got != l {
		t.Errorf("nothing was moved: got %+v, want %+v", got, l)
	}
	small, large := usage.Moved(l, 1e3, time.Second, t0), usage.Moved(l, 1e9, 1000*time.Second, t0)
	if !(small.Pace < l.Pace && large.Pace > l.Pace) {
		t.Errorf("paces: %v, then with 1 kB/s %v, with 1 MB/s %v", l.Pace, small.Pace, large.Pace)
	}
	week := usage.Moved(l, 1, time.Second, t0.Add(7*24*time.Hour))
	if math.Abs(week.Daily-l.Daily/2) > 1 {
		t.Errorf("after a half-life: %v a day, want %v", week.Daily, l.Daily/2)
	}
	// 1 MB a day for long is 1 MB a day.
	for day := range 200 {
		l = usage.Moved(l, 1e6, time.Second, t0.Add(time.Duration(day+1)*24*time.Hour))
	}
	if math.Abs(l.Daily-1e6) > 1e4 {
		t.Errorf("got %v a day, want 1e6", l.Daily)
	}
	// A clock that was set back does no harm.
	back := usage.Moved(l, 1e6, time.Second, t0)
	if math.IsNaN(back.Daily) || math.IsInf(back.Daily, 0) || back.Daily < l.Daily {
		t.Errorf("got %v a day after %v", back.Daily, l.Daily)
	}
}
