package allowance_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/server/allowance"
	"github.com/starling-grid/starling/server/store"
)

var now = time.Date(2026, 11, 25, 10, 0, 0, 0, time.UTC)

// day returns the computing time of a day some days ago.
func day(ago int64, cpu, ran, expected float64) store.TokenDay {
	return store.TokenDay{TokenID: 1, Day: store.DayOf(now) - ago, CPUTime: cpu, ElapsedTime: ran, ExpectedTime: expected}
}

// The limit counts the last 30 days. A token that has reached it waits until enough of its time is older. Time
// from when the clock was ahead does not count.
func TestLimit(t *testing.T) {
	days := []store.TokenDay{day(30, 1000, 1, 1), day(29, 3600, 1, 1), day(10, 7200, 1, 1), day(0, 3600, 1, 1), day(-400, 1e9, 1, 1)}
	midnight := func(in int) time.Time { return time.Date(2026, 11, 25+in, 0, 0, 0, 0, time.UTC) }
	for _, c := range []struct {
		limit int64
		until time.Time
	}{{0, time.Time{}}, {14401, time.Time{}}, {14400, midnight(1)}, {10801, midnight(1)}, {10800, midnight(20)}, {3600, midnight(30)}} {
		u := allowance.Of(store.Token{MaxCPUTime: c.limit}, days, now)
		if u.CPUTime != 14400 || !u.Until.Equal(c.until) || u.Over() != !c.until.IsZero() {
			t.Errorf("limit %d: %+v, want 14400 s until %v", c.limit, u, c.until)
		}
	}
	held := allowance.Of(store.Token{MaxCPUTime: 14400}, days, now).Held(now).String()
	for _, want := range []string{"used 4 CPU hours in the last 30 days", "may use 4", "sent again tomorrow at 00:00 UTC"} {
		if !strings.Contains(held, want) {
			t.Errorf("%q does not have %q", held, want)
		}
	}
}

// Estimates that are wrong are corrected by what results took, lately more than long ago, and within bounds.
func TestPace(t *testing.T) {
	for name, c := range map[string]struct {
		days []store.TokenDay
		want float64
	}{
		"unknown":            {nil, 1},
		"without estimates":  {[]store.TokenDay{day(0, 1, 1, 0)}, 1},
		"twice as long":      {[]store.TokenDay{day(3, 1, 20, 10)}, 2},
		"today counts twice": {[]store.TokenDay{day(1, 1, 10, 10), day(0, 1, 40, 10)}, (5 + 40) / 15.0},
		"far too low":        {[]store.TokenDay{day(0, 1, 36000, 1)}, 36000},
		"never so odd":       {[]store.TokenDay{day(0, 1, 1e9, 1)}, 86400},
		"nor that":           {[]store.TokenDay{day(0, 1, 1, 1e9)}, 0.01},
		"too old":            {[]store.TokenDay{day(40, 1, 20, 10)}, 1},
		"in the future":      {[]store.TokenDay{day(-2, 1, 20, 10)}, 1},
	} {
		u := allowance.Of(store.Token{Weight: 2}, c.days, now)
		if math.Abs(u.Pace-c.want) > 1e-9 || math.Abs(u.Charge(6)-3*c.want) > 1e-9 {
			t.Errorf("%s: pace %v and charge %v, want %v and %v", name, u.Pace, u.Charge(6), c.want, 3*c.want)
		}
	}
	if got := (allowance.Use{}).Charge(7); got != 7 {
		t.Errorf("work without a token costs %v, want 7", got)
	}
}
