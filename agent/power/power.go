package power

import (
	"context"
	"sync"
	"time"

	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/internal/beat"
	"github.com/starling-grid/starling/prefs"
)

// Powers are the signals of an agent. They are safe for concurrent use.
type Powers struct {
	Reader  Reader
	Changed func() // called when something else follows from a signal

	mu     sync.Mutex
	list   []*Signal
	cancel context.CancelFunc // ends the reading
}

// Use reads other numbers from now on, until ctx ends or others are used.
func (p *Powers) Use(ctx context.Context, list []settings.Power) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cancel != nil {
		p.cancel()
	}
	ctx, p.cancel = context.WithCancel(ctx)
	p.list = nil
	for _, one := range list {
		s := &Signal{Power: one}
		p.list = append(p.list, s)
		go p.watch(ctx, s)
	}
}

// watch reads a number now and then. Like intervals end together, so that the computer wakes once.
func (p *Powers) watch(ctx context.Context, s *Signal) {
	ticker := beat.NewTicker("[[power]]", s.Interval())
	defer ticker.Stop()
	for {
		reading, err := p.Reader.Read(ctx, s.Power)
		if ctx.Err() != nil {
			return
		}
		if p.take(s, reading, err, time.Now()) {
			p.Changed()
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		ticker.Again(s.Interval())
	}
}

// take takes in a number, and reports whether something else follows from it.
func (p *Powers) take(s *Signal, r Reading, err error, now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	before := s.denied
	s.Take(r, err, now)
	_, s.denied = s.Denies(now)
	return before != s.denied
}

// Denials are the signals that keep tasks from running now.
func (p *Powers) Denials(now time.Time) (all []prefs.Power) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.list {
		if d, denies := s.Denies(now); denies {
			all = append(all, d)
		}
	}
	return all
}

// maxCarbon is the maximum carbon intensity. The dirtiest power plants have 1500 grams. Sums of CO2 would
// never be right again after a number that is wrong by far, and infinite sums cannot be saved.
const maxCarbon = 10_000

// Carbon returns the carbon intensity of electricity, in grams of CO2 for each kWh, by the first
// number that is one. ok is false if it is not known.
func (p *Powers) Carbon(now time.Time) (gramsPerKWh float64, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.list {
		if s.Carbon() && s.Known(now) && s.Number >= 0 && s.Number <= maxCarbon {
			return s.Number, true
		}
	}
	return 0, false
}

// All are copies of the signals.
func (p *Powers) All() (all []Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.list {
		all = append(all, *s)
	}
	return all
}
