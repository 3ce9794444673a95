package limit

import (
	"context"
	"errors"
	"net/netip"
	"sync"
	"time"
)

// ErrBusy is returned when there was not enough room in time.
var ErrBusy = errors.New("too many large requests at once")

// small is the size up to which a request may take any room that is left. Larger ones together get
// half of it, so that ordinary hosts are still served.
const small = 256 << 10

// patience is the time that a request waits for room.
const patience = 10 * time.Second

// Bodies limits the bytes of requests that are kept at a time, in memory or in a folder. A limit of
// 0 means no limit, and so does a nil Bodies. It is safe for concurrent use.
type Bodies struct {
	Total      int64
	PerAddress int64 // one request alone may have more

	mu      sync.Mutex
	held    int64
	large   int64
	by      map[netip.Addr]int64
	changed chan struct{} // closed when there is more room
}

// Set changes the limits for future requests. The bytes in use stay counted.
func (b *Bodies) Set(total, perAddress int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.Total, b.PerAddress = total, perAddress
}

// Held returns the number of bytes in use now.
func (b *Bodies) Held() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.held
}

// Hold waits until a request of n bytes from an address may be read. release must be called when
// the request is no longer in memory. Hold returns ErrBusy if it takes too long.
func (b *Bodies) Hold(ctx context.Context, a netip.Addr, n int64) (release func(), err error) {
	if b == nil {
		return func() {}, nil
	}
	a = Network(a)
	ctx, cancel := context.WithTimeoutCause(ctx, patience, ErrBusy)
	defer cancel()
	for {
		b.mu.Lock()
		if b.room(a, n) {
			b.add(a, n)
			b.mu.Unlock()
			return sync.OnceFunc(func() {
				b.mu.Lock()
				defer b.mu.Unlock()
				b.add(a, -n)
				if b.changed != nil {
					close(b.changed)
					b.changed = nil
				}
			}), nil
		}
		if b.changed == nil {
			b.changed = make(chan struct{})
		}
		changed := b.changed
		b.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

func (b *Bodies) room(a netip.Addr, n int64) bool {
	if b.PerAddress > 0 && b.by[a] > 0 && b.by[a]+n > b.PerAddress {
		return false
	}
	if b.Total <= 0 || b.held == 0 {
		return true
	}
	if n > small && b.large > 0 && b.large+n > b.Total/2 {
		return false
	}
	return b.held+n <= b.Total
}

func (b *Bodies) add(a netip.Addr, n int64) {
	b.held += n
	if n > small || n < -small {
		b.large += n
	}
	if b.by == nil {
		b.by = make(map[netip.Addr]int64)
	}
	if b.by[a] += n; b.by[a] == 0 {
		delete(b.by, a)
	}
}

// Requests limits the number of requests of an address that are answered at a time. 0 means no
// limit. It is safe for concurrent use.
type Requests struct {
	PerAddress int

	mu sync.Mutex
	by map[netip.Addr]int
}

// Begin reports whether one more may be answered now. If so, end must be called after it.
func (q *Requests) Begin(a netip.Addr) (end func(), ok bool) {
	if q.PerAddress <= 0 {
		return func() {}, true
	}
	a = Network(a)
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.by[a] >= q.PerAddress {
		return nil, false
	}
	if q.by == nil {
		q.by = make(map[netip.Addr]int)
	}
	q.by[a]++
	return func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		if q.by[a]--; q.by[a] == 0 {
			delete(q.by, a)
		}
	}, true
}
