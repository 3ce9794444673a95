package account

import (
	"context"
	"sync"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/protocol"
)

// maxWaiting is the maximum number of passwords of a kind that wait to be hashed. For any more, the
// sender would have given up long before the answer.
const maxWaiting = 64

// errHashing means that too many are waiting. Clients treat the number as a temporary error.
var errHashing = Refuse(protocol.ErrNumProjectDown, words.T("too many people are logging in or signing up: try again in a minute"))

// hashing allocates the processors' time for passwords, each of which takes a processor for a
// while. Passwords of existing accounts have precedence: a crowd of sign-ups does not keep users
// from logging in.
type hashing struct {
	mu      sync.Mutex
	free    int
	logins  []chan struct{} // waiting, the longest first (closed when it is their turn)
	signups []chan struct{}
}

// begin waits until a password may be hashed. The caller calls done after that.
func (h *hashing) begin(ctx context.Context, login bool) (done func(), err error) {
	h.mu.Lock()
	if h.free > 0 {
		h.free--
		h.mu.Unlock()
		return h.end, nil
	}
	queue := &h.signups
	if login {
		queue = &h.logins
	}
	if len(*queue) >= maxWaiting {
		h.mu.Unlock()
		return nil, errHashing
	}
	turn := make(chan struct{})
	*queue = append(*queue, turn)
	h.mu.Unlock()
	select {
	case <-turn:
		return h.end, nil
	case <-ctx.Done():
		h.mu.Lock()
		defer h.mu.Unlock()
		for i, c := range *queue {
			if c == turn {
				*queue = append((*queue)[:i:i], (*queue)[i+1:]...)
				return nil, context.Cause(ctx)
			}
		}
		h.next() // it was its turn just then
		return nil, context.Cause(ctx)
	}
}

func (h *hashing) end() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.next()
}

func (h *hashing) next() {
	for _, queue := range []*[]chan struct{}{&h.logins, &h.signups} {
		if len(*queue) > 0 {
			close((*queue)[0])
			*queue = (*queue)[1:]
			return
		}
	}
	h.free++
}
