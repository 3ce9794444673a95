package usage

import (
	"math"
	"time"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/state"
)

// lineHalfLife is the half-life of the average of daily transfers.
const lineHalfLife = 7 * 24 * time.Hour

// Moved returns the measurements of the line in one direction after a transfer that took d and
// ended now. The speed of larger files counts more, as they show better what the line can do. A
// transfer without bytes, or without time, changes nothing.
//
// Source: BOINC client/net_stats.cpp, NET_INFO::update, and lib/util.cpp, update_average. Different
// here: BOINC takes the first transfer for what moves all day long.
func Moved(l state.Line, bytes int64, d time.Duration, now time.Time) state.Line {
	if bytes <= 0 || d <= 0 {
		return l
	}
	n := float64(bytes)
	pace, weight := n/d.Seconds(), min(1, math.Log(n)/500)
	if l.Pace == 0 {
		weight = 1
	}
	l.Pace += weight * (pace - l.Pace)

	const day = 24 * time.Hour
	if l.Daily == 0 || l.At.IsZero() {
		// As if the bytes had come evenly over one half-life.
		l.Daily += n * math.Ln2 * day.Seconds() / lineHalfLife.Seconds()
	} else {
		span := max(0, now.Sub(l.At))
		keep := math.Exp2(-span.Seconds() / lineHalfLife.Seconds())
		l.Daily *= keep
		if 1-keep > 1e-6 {
			l.Daily += (1 - keep) * n / (span.Seconds() / day.Seconds())
		} else {
			l.Daily += math.Ln2 * n * day.Seconds() / lineHalfLife.Seconds()
		}
	}
	l.At = now
	return l
}

// Lines returns the measurements of the line for a request.
func Lines(h state.Host) protocol.NetStats {
	return protocol.NetStats{
		BwUp: h.Up.Pace, AvgUp: h.Up.Daily, AvgTimeUp: h.Up.At,
		BwDown: h.Down.Pace, AvgDown: h.Down.Daily, AvgTimeDown: h.Down.At,
	}
}
