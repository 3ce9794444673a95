package filexfer

import (
	"context"

	"golang.org/x/time/rate"
)

// piece is the most that is moved between two looks at a pace, in bytes.
const piece = 32 << 10

// A Pace bounds how fast bytes move, over all transfers that share it. nil bounds
// nothing. Its methods may be called concurrently, also while transfers run.
type Pace struct{ limiter *rate.Limiter }

// NewPace returns a Pace without a bound.
func NewPace() *Pace { return &Pace{rate.NewLimiter(rate.Inf, piece)} }

// Set bounds the pace, in bytes a second. 0 or less removes the bound.
func (p *Pace) Set(bytesPerSecond float64) {
	if bytesPerSecond <= 0 {
		p.limiter.SetLimit(rate.Inf)
		p.limiter.SetBurst(piece)
		return
	}
	p.limiter.SetLimit(rate.Limit(bytesPerSecond))
	p.limiter.SetBurst(int(max(1, min(bytesPerSecond, piece))))
}

// most returns how many of n bytes may be transferred at once.
func (p *Pace) most(n int) int {
	if p == nil {
		return n
	}
	return min(n, p.limiter.Burst())
}

// wait waits until n bytes that were moved are paid for, or ctx ends.
func (p *Pace) wait(ctx context.Context, n int) error {
	for p != nil && n > 0 {
		part := p.most(n) // the bound may have changed meanwhile
		if err := p.limiter.WaitN(ctx, part); err != nil && ctx.Err() != nil {
			return ctx.Err()
		}
		n -= part
	}
	return nil
}
