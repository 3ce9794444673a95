// Package beat aligns periodic work. Everything with the same period happens at the same instants,
// so that a computer at rest is woken only once for it.
package beat

import "time"

// start is the common start of all periods of this process.
var start = time.Now()

// Next returns the first instant after now that ends a period.
func Next(now time.Time, period time.Duration) time.Time {
	since := now.Sub(start) % period
	if since < 0 { // a test's clock
		since += period
	}
	return now.Add(period - since)
}

// A Ticker ticks at the end of each period, together with all other tickers of the same period.
// Only C is for concurrent use.
type Ticker struct {
	C     <-chan time.Time
	timer *time.Timer
	cause string
}

// NewTicker returns a Ticker that ticks at the end of the current period. Its ticks count as wake-ups
// for a cause, see Woke.
func NewTicker(cause string, period time.Duration) *Ticker {
	timer := time.NewTimer(time.Until(Next(time.Now(), period)))
	return &Ticker{timer.C, timer, cause}
}

// Again makes the ticker tick once more, at the end of this period. It must be called after each tick.
func (t *Ticker) Again(period time.Duration) {
	Woke(t.cause)
	t.timer.Reset(time.Until(Next(time.Now(), period)))
}

// Stop stops the ticker.
func (t *Ticker) Stop() { t.timer.Stop() }
