package limit

import (
	"context"
	"errors"
	"net/netip"
	"sync"
	"time"
)

// ErrBusy is returned when there was no room in time.
var ErrBusy = errors.New("too many large requests at once")

// small is the size up to which a request may take any room that is left; larger ones
// together get half of it, so that ordinary hosts are served beside them.
const small = 256 << 10

// patience is how long a request waits for room.
const patience = 10 * time.Second

// Bodies bounds the bytes of requests that are held at a time, in memory or in a folder. 0 is
// no limit, and so is a nil Bodies. It is safe for concurrent use.
type Bodies struct {
	Total      int64
	PerAddress int64 // one request alone may have more

	mu      sync.Mutex
	held    int64
	large   int64
	by      map[netip.Addr]int64
	changed chan struct{} // closed when there is more room
}

// Set changes the limits for requests to come. What is held stays counted.
func (b *Bodies) Set(total, perAddress int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.Total, b.PerAddress = total, perAddress
}

// Held returns how many bytes are held now.
func (b *Bodies) Held() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.held
}

// Hold waits until a request of n bytes from an address may be read; release must be
// called when it is no longer in memory. It returns ErrBusy if that takes too long.
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

// Requests bounds how many requests of an address are answered at a time. 0 is no
// limit. It is safe for concurrent use.
type Requests struct {
	PerAddress int

	mu sync.Mutex
	by map[netip.Addr]int
}

// Begin reports whether one more may be answered now; if so, end must be called after
// it.
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
