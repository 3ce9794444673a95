package contact

import (
	"math/rand/v2"
	"time"

	"github.com/starling-grid/starling/internal/backoff"
)

// Bounds of the pauses between connections on which a project announces new work.
const (
	eventsMin = 5 * time.Second
	eventsMax = time.Hour
	// lasting is the time after which the end of a connection does not count as a failure: servers
	// restart, and proxies close connections that have been open for long.
	lasting = 10 * time.Minute
	// spread is the time over which agents reconnect after their server closed all connections at
	// once.
	spread = 30 * time.Second
)

// Events is the state of an agent's connections to a project that announces new work. Whatever its
// server does, the agent connects to it, and asks it because of an announcement, less and less
// often, unless connections last or work arrives.
type Events struct {
	Failures int       // connections in a row that ended soon or announced work that did not exist
	NextTry  time.Time // no connection before
}

// Ended returns the state after a connection that lasted for a time and announced nothing.
func (e Events) Ended(now time.Time, lasted time.Duration, rng *rand.Rand) Events {
	if lasted >= lasting {
		return Events{NextTry: now.Add(time.Second + time.Duration(rng.Float64()*float64(spread)))}
	}
	e.Failures++
	e.NextTry = now.Add(backoff.Delay(e.Failures, eventsMin, eventsMax, rng))
	return e
}

// Told returns the state after a connection that lasted for a time and announced work, until
// Served.
func (e Events) Told(now time.Time, lasted time.Duration, rng *rand.Rand) Events {
	if lasted >= lasting {
		e.Failures = 0
	}
	e.Failures++
	e.NextTry = now.Add(backoff.Delay(e.Failures, eventsMin, eventsMax, rng))
	return e
}

// Served returns the state after a reply with work.
func (e Events) Served() Events { return Events{} }
