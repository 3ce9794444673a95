package jobsched

import "time"

// A Forecast has the times in the near future in which nothing will be computed. The zero value is for a
// computer without a forecast.
type Forecast struct {
	Until  time.Time `json:"until,omitzero"`   // it is complete until then
	Closed []Closed  `json:"closed,omitempty"` // in order and not overlapping
}

// Closed is a time in which nothing will be computed.
type Closed struct {
	Start time.Time `json:"start"`
	End   time.Time `json:"end"`
}

// within returns how much of it is between two moments.
func (c Closed) within(begin, end time.Time) time.Duration {
	if c.Start.After(begin) {
		begin = c.Start
	}
	if c.End.Before(end) {
		end = c.End
	}
	return max(0, end.Sub(begin))
}

// closed returns how long nothing will be computed between two moments.
func (f Forecast) closed(begin, end time.Time) (sum time.Duration) {
	for _, c := range f.Closed {
		sum += c.within(begin, end)
	}
	return sum
}

// open returns the part of the time until its end in which something can be computed, or 1 without a
// forecast.
func (f Forecast) open(now time.Time) float64 {
	all := f.Until.Sub(now)
	if len(f.Closed) == 0 || all <= 0 {
		return 1
	}
	return 1 - float64(f.closed(now, f.Until))/float64(all)
}
