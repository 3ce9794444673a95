package notify

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/starling-grid/starling/internal/backoff"
)

// Poll calls look after first and then every so often, until ctx ends. look returns false if the
// agent does not answer. At login the agent may start later than the helper of the session, so look
// is then called again soon: after first at most, then after longer and longer times.
func Poll(ctx context.Context, first, every time.Duration, look func() bool) {
	rng := rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
	timer := time.NewTimer(first)
	defer timer.Stop()
	for failures := 0; ; {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		if look() {
			failures = 0
			timer.Reset(every)
			continue
		}
		timer.Reset(backoff.Delay(failures, first, every, rng))
		failures++
	}
}
