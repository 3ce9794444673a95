package contact

import (
	"math/rand/v2"
	"time"

	"github.com/starling-grid/starling/internal/backoff"
)

// Bounds of the pauses between connections on which a project tells of new work.
const (
	eventsMin = 5 * time.Second
	eventsMax = time.Hour
	// lasting is the time after which the end of a connection is no failure: servers restart, and
	// proxies end what has been open for long.
	lasting = 10 * time.Minute
	// spread is the time over which agents come back whose server ended all connections at once.
	spread = 30 * time.Second
)

// Events is the state of an agent's connections to a project that tells of new work. Whatever its
// server does, it is connected to, and asked since it said that there is work, ever more rarely,
// unless connections last or work comes.
type Events struct {
	Failures int       // connections in a row that ended soon, or told of work that was not there
	NextTry  time.Time // no connection before
}

// Ended is what follows a connection that lasted for a time and told of nothing.
func (e Events) Ended(now time.Time, lasted time.Duration, rng *rand.Rand) Events {
	if lasted >= lasting {
		return Events{NextTry: now.Add(time.Second + time.Duration(rng.Float64()*float64(spread)))}
	}
	e.Failures++
	e.NextTry = now.Add(backoff.Delay(e.Failures, eventsMin, eventsMax, rng))
	return e
}

// Told is what follows a connection that lasted for a time and told of work, until Served.
func (e Events) Told(now time.Time, lasted time.Duration, rng *rand.Rand) Events {
	if lasted >= lasting {
		e.Failures = 0
	}
	e.Failures++
	e.NextTry = now.Add(backoff.Delay(e.Failures, eventsMin, eventsMax, rng))
	return e
}

// Served is what follows a reply with work.
func (e Events) Served() Events { return Events{} }
