package contact_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/starling-grid/starling/contact"
)

// If a server ends connections at once, or announces work that does not exist, the pauses grow. If
// its connections last or it has work, the agent reconnects soon.
func TestConnectionsForEvents(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for name, next := range map[string]func(contact.Events, time.Time) contact.Events{
		"ends at once":     func(e contact.Events, at time.Time) contact.Events { return e.Ended(at, time.Second, rng) },
		"tells of nothing": func(e contact.Events, at time.Time) contact.Events { return e.Told(at, time.Second, rng) },
	} {
		e, at, n := contact.Events{}, now, 0
		for ; at.Before(now.Add(24 * time.Hour)); n++ {
			e = next(e, at)
			if wait := e.NextTry.Sub(at); wait < 2*time.Second || wait > 2*time.Hour {
				t.Fatalf("%s: waits %v", name, wait)
			}
			at = e.NextTry
		}
		if n > 70 {
			t.Errorf("a server that %s is connected to %d times a day", name, n)
		}
		if e.Served() != (contact.Events{}) {
			t.Error("work does not make good")
		}
		if wait := e.Ended(at, time.Hour, rng).NextTry.Sub(at); wait > time.Minute {
			t.Errorf("after a connection that lasted, it waits %v", wait)
		}
	}
}

// In whatever order things happen, connections are never closer than a second.
func TestConnectionsAreNeverClose(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 2))
		e, at := contact.Events{}, now
		for range rapid.IntRange(1, 50).Draw(t, "steps") {
			lasted := time.Duration(rapid.Int64Range(-int64(time.Hour), int64(7*time.Hour)).Draw(t, "lasted"))
			at = at.Add(max(0, lasted))
			switch rapid.SampledFrom([]string{"ended", "told"}).Draw(t, "event") {
			case "ended":
				e = e.Ended(at, lasted, rng)
			case "told":
				e = e.Told(at, lasted, rng)
			}
			if wait := e.NextTry.Sub(at); wait < time.Second || wait > 2*time.Hour {
				t.Fatalf("waits %v", wait)
			}
			at = e.NextTry
		}
	})
}
