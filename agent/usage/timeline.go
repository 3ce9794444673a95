package usage

import (
	"time"

	"github.com/starling-grid/starling/agent/core"
	"github.com/starling-grid/starling/state"
)

// grain is the resolution of the timeline: the main activity in a grain counts for all of it. So a
// year has a bounded number of spans, however often things change. The start of a lasting activity
// is recorded more precisely.
const grain = time.Minute

// A Doing is the computer's activity and, if it does not compute, the reason.
type Doing struct {
	Activity state.Activity
	Code     string
	Why      string // in words, which may change while the code stays
}

// A Timeline records the computer's activities. A span is on disk, open, from its start. It is
// certain up to Host.LastSeen, which is saved every minute.
type Timeline struct {
	*core.Core

	last  time.Time // with the clock that does not jump
	doing Doing     // since then (the zero value: not known yet)
	began time.Time // it, without a break
	since time.Time // of the grain that is being counted
	spent []spent   // in it
	tip   state.Span
	any   bool // there is a tip: the last span
}

type spent struct {
	doing Doing
	time  time.Duration
}

// Open closes the span that an earlier agent left open, and records the time during which no agent
// ran.
func (t *Timeline) Open(now time.Time) {
	t.last, t.since = now, now
	s, ok, err := t.DB.LastSpan()
	if err != nil {
		t.Log.Warn("cannot read the timeline; it continues from here", "err", err)
	}
	if !ok {
		return
	}
	t.tip, t.any = s, true
	off, left := state.Span{Activity: state.Off, Code: state.OffStopped, Start: s.End, End: now.Round(0)}, s.Open
	var list []state.Span
	if left {
		s.Open, s.End = false, t.DB.Certain(s)
		off.Code, off.Start = state.OffKilled, s.End
		list = append(list, s)
	}
	again := s.Activity == state.Off // nothing was done in between
	if again {
		off.Start, off.Code = s.Start, s.Code
	}
	if off.End.Sub(s.End) >= grain {
		list = append(list, off)
	}
	t.put(left || again, list...)
}

// Count accounts for the time since the last call. doing is the activity from now on.
func (t *Timeline) Count(now time.Time, doing Doing) {
	dt, wall := now.Sub(t.last), now.Round(0).Sub(t.last.Round(0))
	switch gap := wall - dt; {
	case gap > jump: // the computer slept, or its clock was corrected
		t.slept(now)
	case gap < -jump: // spans overlap from here on
		t.flush(t.last)
		t.put(t.tip.Open, t.closed(t.last)...)
		t.since, t.began = now, now
	case t.doing.Activity != "":
		t.spend(dt)
	}
	if now.Sub(t.since) >= grain {
		t.flush(now)
	}
	if !same(t.doing, doing) {
		t.began = now
	}
	t.last, t.doing = now, doing
}

// slept notes that nothing was done since the last pass.
func (t *Timeline) slept(now time.Time) {
	off := state.Span{Activity: state.Off, Code: state.OffAsleep, Start: t.last.Round(0), End: now.Round(0)}
	if awake := off.Start.Sub(t.tip.End); t.tip.Code == state.OffAsleep && awake >= 0 && awake < grain {
		off.Start = t.tip.Start // it woke up for a moment
		t.put(true, off)
	} else {
		t.flush(t.last)
		t.put(t.tip.Open, append(t.closed(t.last), off)...)
	}
	t.since, t.began, t.spent = now, now, nil
}

// Close ends the timeline, as the agent stops.
func (t *Timeline) Close(now time.Time) {
	t.Count(now, t.doing)
	t.flush(now)
	t.put(true, t.closed(now)...)
}

func (t *Timeline) spend(d time.Duration) {
	for i := range t.spent {
		if s := &t.spent[i]; same(s.doing, t.doing) {
			s.time += d
			return
		}
	}
	t.spent = append(t.spent, spent{t.doing, d})
}

// flush counts the main activity in the grain for all of it.
func (t *Timeline) flush(now time.Time) {
	var most spent
	for _, s := range t.spent {
		if s.time > most.time {
			most = s
		}
	}
	if most.time > 0 && !t.extend(most.doing) {
		return // counted on: saving is tried again
	}
	t.since, t.spent = now, nil
}

// extend extends the last span, if it is of the same activity, or starts another.
func (t *Timeline) extend(d Doing) bool {
	again := t.any && same(d, Doing{Activity: t.tip.Activity, Code: t.tip.Code})
	switch gap := t.since.Round(0).Sub(t.tip.End); {
	case again && t.tip.Open:
		return true
	case again && gap >= 0 && gap < grain: // as after a short restart
		s := t.tip
		s.Open, s.End = true, time.Time{}
		return t.put(true, s)
	}
	start := t.since
	if same(d, t.doing) {
		start = t.began
	}
	next := state.Span{Activity: d.Activity, Code: d.Code, Why: d.Why, Start: start.Round(0), Open: true}
	return t.put(t.tip.Open, append(t.closed(start), next)...)
}

func same(a, b Doing) bool { return a.Activity == b.Activity && a.Code == b.Code }

// closed returns the last span with its end, if it is open.
func (t *Timeline) closed(at time.Time) []state.Span {
	if !t.tip.Open {
		return nil
	}
	s := t.tip
	s.Open, s.End = false, at.Round(0)
	if s.End.Before(s.Start) {
		s.End = s.Start
	}
	return []state.Span{s}
}

// put saves spans, the first of them in the place of the last one if replace is set.
func (t *Timeline) put(replace bool, list ...state.Span) bool {
	if len(list) == 0 {
		return true
	}
	if !t.Save(func(tx *state.Tx) { t.DB.AddSpans(tx, replace, list...) }) {
		return false
	}
	t.tip, t.any = list[len(list)-1], true
	return true
}
