package jobsched

import "time"

// Closed is a time in the future in which nothing will be computed, according to a forecast.
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
