package notices

import (
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/starling-grid/starling/internal/backoff"
)

// Bounds on how often a feed is read, whatever its project says.
const (
	LeastPoll = time.Hour
	MostPoll  = Kept

	retry = 10 * time.Minute // after a first failure
)

// A Feed is where a project announces news.
type Feed struct {
	URL      string
	Poll     time.Duration // between two looks
	Next     time.Time     // look; zero: as soon as that can be
	Failures int           // since the last look that went well
}

// Feeds returns the feeds of a project after a reply that names the ones in told: when
// each is read next stays as it is. What is no address of the web is left out.
func Feeds(known, told []Feed) (after []Feed) {
	has := func(all []Feed, url string) int {
		return slices.IndexFunc(all, func(f Feed) bool { return f.URL == url })
	}
	for _, f := range told {
		if !Web(f.URL) || has(after, f.URL) >= 0 {
			continue
		}
		f = Feed{URL: f.URL, Poll: min(max(f.Poll, LeastPoll), MostPoll)}
		if i := has(known, f.URL); i >= 0 {
			f.Next, f.Failures = known[i].Next, known[i].Failures
		}
		after = append(after, f)
	}
	return after
}

// Web reports whether an address is one of http or https.
func Web(url string) bool {
	scheme, rest, ok := strings.Cut(url, "://")
	if !ok || rest == "" || strings.HasPrefix(rest, "/") {
		return false
	}
	return strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https")
}

// Due returns which feed to read now, the one that has waited longest, and -1 for none;
// then wake is when the first one is due, zero if there are no feeds. A clock that was set
// back makes none wait for longer than its interval.
func Due(feeds []Feed, now time.Time) (i int, wake time.Time) {
	i = -1
	for k, f := range feeds {
		if f.Next.Sub(now) > f.Poll {
			f.Next = now
		}
		switch {
		case !now.Before(f.Next) && (i < 0 || f.Next.Before(feeds[i].Next)):
			i = k
		case now.Before(f.Next) && (wake.IsZero() || f.Next.Before(wake)):
			wake = f.Next
		}
	}
	return i, wake
}

// Read is a feed after it was read.
func (f Feed) Read(now time.Time) Feed {
	f.Next, f.Failures = now.Add(f.Poll), 0
	return f
}

// Failed is a feed that could not be read.
func (f Feed) Failed(now time.Time, rng *rand.Rand) Feed {
	f.Next = now.Add(backoff.Delay(f.Failures, retry, f.Poll, rng))
	f.Failures++
	return f
}
