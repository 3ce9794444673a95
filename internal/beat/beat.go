// Package beat aligns what happens now and then: whatever has a period in common happens at the
// same instants, so that a computer at rest is woken once for all of it.
package beat

import "time"

// start is where all periods of this process begin.
var start = time.Now()

// Next returns the first instant after now that ends a period.
func Next(now time.Time, period time.Duration) time.Time {
	return now.Add(period - now.Sub(start)%period)
}

// A Ticker ticks at the end of each period, all tickers of a period at once. It is not for
// concurrent use, but for C.
type Ticker struct {
	C     <-chan time.Time
	timer *time.Timer
}

// NewTicker returns one whose first period has begun.
func NewTicker(period time.Duration) *Ticker {
	timer := time.NewTimer(time.Until(Next(time.Now(), period)))
	return &Ticker{timer.C, timer}
}

// Again has the ticker tick once more, at the end of this period. To be called after each tick.
func (t *Ticker) Again(period time.Duration) {
	t.timer.Reset(time.Until(Next(time.Now(), period)))
}

// Stop ends it.
func (t *Ticker) Stop() { t.timer.Stop() }
