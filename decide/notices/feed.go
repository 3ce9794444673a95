package notices

import (
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/starling-grid/starling/internal/backoff"
)

// Bounds on how often a feed is read, no matter what its project asks for.
const (
	LeastPoll = time.Hour
	MostPoll  = Kept

	retry = 10 * time.Minute // after a first failure
)

// A Feed is a project's source of news.
type Feed struct {
	URL      string
	Poll     time.Duration // between two looks
	Next     time.Time     // look (zero: as soon as that can be)
	Failures int           // since the last look that went well
}

// Feeds returns the feeds of a project after a reply that names the ones in told. The next read of
// each stays as it is. Addresses outside the web are left out.
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

// Due returns the feed to read now, the one that has waited longest, or -1. Without one, wake is
// the time when the first is due, or zero if there are no feeds. If the clock was set back, none
// waits longer than its interval.
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

// Read returns the feed's state after it was read.
func (f Feed) Read(now time.Time) Feed {
	f.Next, f.Failures = now.Add(f.Poll), 0
	return f
}

// Failed returns the feed's state after it could not be read.
func (f Feed) Failed(now time.Time, rng *rand.Rand) Feed {
	f.Next = now.Add(backoff.Delay(f.Failures, retry, f.Poll, rng))
	f.Failures++
	return f
}
