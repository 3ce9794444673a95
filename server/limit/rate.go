package web

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// A ration bounds how often something may be done for each account: burst times at
// once, and once more after every. It is kept in memory. It is safe for concurrent use.
type ration struct {
	burst int
	every time.Duration

	mu  sync.Mutex
	has map[int64]*rate.Limiter // by account; one that is not there has its whole ration
}

// many is from how many accounts on it is seen whether some have their whole ration again.
const many = 1000

// take reports whether it may be done for an account at now, and counts that.
func (r *ration) take(id int64, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.has) >= many {
		r.forgetWhole(now)
	}
	l := r.has[id]
	if l == nil {
		l = rate.NewLimiter(rate.Every(r.every), r.burst)
		if r.has == nil {
			r.has = make(map[int64]*rate.Limiter)
		}
		r.has[id] = l
	}
	return l.AllowN(now, 1)
}

func (r *ration) forgetWhole(now time.Time) {
	for id, l := range r.has {
		if l.TokensAt(now) >= float64(r.burst) {
			delete(r.has, id)
		}
	}
}

// renew gives an account its whole ration again.
func (r *ration) renew(id int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.has, id)
}
