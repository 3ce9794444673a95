package limit

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// A Rate limits how often something may be done for each K: Burst times at once, and once more
// after Every. A Burst of 0 means no limit. It is safe for concurrent use.
type Rate[K comparable] struct {
	Burst int
	Every time.Duration

	mu   sync.Mutex
	has  map[K]*rate.Limiter // one that is not there has its whole ration
	look int                 // the number of entries from which it is worth looking at them again
}

// many is the number of entries from which Take looks for ones that have their whole allowance
// again.
const many = 1000

// Take reports whether it may be done for k at now, and counts that. If not, it returns the time
// until it may.
func (r *Rate[K]) Take(k K, now time.Time) (wait time.Duration, ok bool) {
	if r.Burst <= 0 {
		return 0, true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.has) >= max(many, r.look) {
		r.forgetWhole(now)
	}
	l := r.has[k]
	if l == nil {
		l = rate.NewLimiter(rate.Every(r.Every), r.Burst)
		if r.has == nil {
			r.has = make(map[K]*rate.Limiter)
		}
		r.has[k] = l
	}
	if l.AllowN(now, 1) {
		return 0, true
	}
	return time.Duration((1 - l.TokensAt(now)) * float64(r.Every)), false
}

// forgetWhole is called when there are many entries. Entries that it does not free are looked at
// again only when there are twice as many.
func (r *Rate[K]) forgetWhole(now time.Time) {
	for k, l := range r.has {
		if l.TokensAt(now) >= float64(r.Burst) {
			delete(r.has, k)
		}
	}
	r.look = 2 * len(r.has)
}

// Renew gives k its whole ration again.
func (r *Rate[K]) Renew(k K) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.has, k)
}
