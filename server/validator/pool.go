package validator

import (
	"context"
	"time"
)

// A pool runs the programs that check workunits, several at a time. Its methods are for one
// goroutine.
type pool struct {
	ask     func(ctx context.Context, l *look)
	atOnce  int
	done    chan *look
	running map[int64]bool // IDs of workunits with an unfinished look
}

func newPool(atOnce int, ask func(ctx context.Context, l *look)) *pool {
	return &pool{ask: ask, atOnce: atOnce, done: make(chan *look, atOnce), running: make(map[int64]bool)}
}

// start lets a program check a workunit, and returns false if no more may run.
func (p *pool) start(ctx context.Context, l *look) bool {
	if len(p.running) == p.atOnce {
		return false
	}
	p.running[l.wu.ID] = true
	go func() {
		p.ask(ctx, l)
		p.done <- l
	}()
	return true
}

// next returns a look whose check has ended, or nil if none ends in time.
func (p *pool) next(within time.Duration) *look {
	if len(p.running) == 0 {
		return nil
	}
	t := time.NewTimer(within)
	defer t.Stop()
	select {
	case l := <-p.done:
		delete(p.running, l.wu.ID)
		return l
	case <-t.C:
		return nil
	}
}

// drain waits until all programs have ended.
func (p *pool) drain() {
	for range len(p.running) {
		<-p.done
	}
}
