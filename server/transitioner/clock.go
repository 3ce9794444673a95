package transitioner

import (
	"context"
	"time"

	"github.com/starling-grid/starling/server/pass"
	"github.com/starling-grid/starling/server/store"
)

const (
	// clockSlack is the least jump of the clock that matters.
	clockSlack = time.Minute
	// outage is the least time without a server after which deadlines are extended.
	outage = 10 * time.Minute
	// extension is the time that computers have to report after such an outage. If the clock is
	// wrong, it is the time to correct it.
	extension = time.Hour
)

// A Clock notices that the server did not run for a while, and that its clock was set. It is for
// one goroutine.
//
// Both look the same at first: suddenly it is late, and the deadlines of many results have passed,
// although their computers could not report. These results get an extension.
type Clock struct {
	store.Clock

	last  time.Time // of the last pass, with the clock that does not jump
	saved time.Time
	// back is set while workunits have yet to be looked at again because the clock was set back. They
	// may wait until that time.
	back time.Time
}

// start notes the first pass of this process. left is the record of the process before.
func (c *Clock) start(left store.Clock, now time.Time) {
	c.Clock, c.last = left, now
	if !left.Seen.IsZero() {
		c.jump(left.Seen, now.Sub(left.Seen), now)
	}
}

// pass notes a pass.
func (c *Clock) pass(now time.Time) {
	last, ran := c.last.Round(0), now.Sub(c.last)
	c.last = now
	c.jump(last, now.Round(0).Sub(last)-ran, now)
}

// jump notes that gap is the part of the time since last in which nothing ran.
func (c *Clock) jump(last time.Time, gap time.Duration, now time.Time) {
	switch {
	case gap > outage:
		if !now.Before(c.Until) {
			c.From = last
		}
		c.Until = now.Round(0).Add(extension)
	case gap < -clockSlack:
		c.From, c.Until = time.Time{}, time.Time{}
		if back := last.Add(extension); back.After(c.back) {
			c.back = back
		}
	}
}

// extended returns results with their deadlines as they are to be judged.
func (c *Clock) extended(results []store.Result, now time.Time) []store.Result {
	if c == nil || !now.Before(c.Until) {
		return results
	}
	out := make([]store.Result, len(results))
	for i, r := range results {
		if r.ServerState == store.InProgress && !r.ReportDeadline.Before(c.From) && r.ReportDeadline.Before(c.Until) {
			r.ReportDeadline = c.Until
		}
		out[i] = r
	}
	return out
}

// watch notes a pass. After a change of the clock it writes a message and makes workunits due.
func (t *Transitioner) watch(ctx context.Context, now time.Time) error {
	c := t.Clock
	if c == nil {
		return nil
	}
	first, until := c.last.IsZero(), c.Until
	if first {
		left, err := store.Read(ctx, t.Store, (*store.View).Clock)
		if err != nil {
			return err
		}
		until = left.Until
		c.start(left, now)
	} else {
		c.pass(now)
	}
	if c.Until.After(until) {
		t.Log.Warn("no computer could report for a while, or the clock was set ahead: results get an hour more before they are late", "since", c.From, "until", c.Until)
	}
	back := !c.back.IsZero()
	if back {
		t.Log.Warn("the clock was set back: all workunits that wait are looked at again", "by", c.back.Add(-extension).Sub(now.Round(0)))
		if err := t.Store.Update(ctx, func(tx *store.Tx) error { return tx.Backdate(now, clockSlack) }); err != nil {
			return err // the next pass tries it again
		}
		if err := t.lookAgain(ctx, now, c.back); err != nil {
			return err // likewise
		}
		c.back = time.Time{}
	}
	if !first && !back && c.Until.Equal(until) && now.Sub(c.saved) < saveEvery {
		return nil
	}
	c.Seen, c.saved = now, now
	return t.Store.Update(ctx, func(tx *store.Tx) error { return tx.SaveClock(c.Clock) })
}

// saveEvery is the interval at which the time is saved.
const saveEvery = time.Minute

// lookAgain makes workunits that wait for a time until to due.
func (t *Transitioner) lookAgain(ctx context.Context, now, to time.Time) error {
	for n := 1; n > 0; {
		if err := t.Store.Update(ctx, func(tx *store.Tx) (err error) {
			n, err = tx.TransitionWaiting(now, to, pass.Batch)
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}
