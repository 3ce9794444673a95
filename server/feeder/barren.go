package feeder

import (
	"slices"
	"time"

	"github.com/starling-grid/starling/server/store"
)

const (
	// barrenFor is the time that a stretch is taken for barren. Results added to it since then wait
	// up to that long for hosts that can do hardly anything of the kind.
	barrenFor = 10 * time.Second
	// maxBarren is the maximum number of stretches kept for a kind.
	maxBarren = 16
	// far is the number of results from which a search counts as long.
	far = 256
)

// A barren is a stretch of a kind's queue in which nothing fits a host with at most the abilities
// in fit. The results of a kind have nearly the same needs, so few hosts can do some of a kind and
// not all. But where a million results are just too large for a host, the database must not look at
// all of them each time it asks.
type barren struct {
	fit   store.Fit
	from  store.Place // behind it
	until store.Place // results from here on may fit
	ended bool        // nothing is behind
	since time.Time
}

// find is like store.Tx.UnsentFits, but skips the stretches known to be barren, and records new
// ones.
func (s *stream) find(fit store.Fit) ([]store.Candidate, error) {
	h := s.head
	if s.f.Fresh <= 0 { // nothing is kept
		return s.tx.UnsentFits(h.kind, s.after, fit, firstPage, h.of)
	}
	h.barren = slices.DeleteFunc(h.barren, func(b barren) bool { return s.now.Sub(b.since).Abs() >= barrenFor })
	after := s.after
	for _, b := range h.barren {
		if !b.covers(fit) || after.Before(b.from) {
			continue
		}
		if b.ended {
			return nil, nil
		}
		if after.Before(b.until) {
			after = store.Place{Priority: b.until.Priority, ID: b.until.ID - 1}
		}
	}
	list, err := s.tx.UnsentFits(h.kind, after, fit, firstPage, h.of)
	if err != nil || len(list) > 0 && list[0].Priority == after.Priority && list[0].ID-after.ID < far {
		return list, err
	}
	anyone := fit
	anyone.UserID, anyone.HostID = 0, 0
	first, err := s.tx.UnsentFits(h.kind, after, anyone, 1, h.of)
	if err != nil {
		return nil, err
	}
	b := barren{fit: anyone, from: after, ended: len(first) == 0, since: s.now}
	if !b.ended {
		b.until = first[0].Place()
	}
	h.barren = append(h.barren, b)
	h.barren = h.barren[max(0, len(h.barren)-maxBarren):]
	return list, nil
}

// covers reports whether a host with the abilities f can do no more than the hosts for which the
// stretch is barren.
func (b *barren) covers(f store.Fit) bool {
	return f.Memory <= b.fit.Memory && f.Disk <= b.fit.Disk && f.Bandwidth <= b.fit.Bandwidth &&
		f.Wait >= b.fit.Wait && f.PerFlop >= b.fit.PerFlop && f.Below == b.fit.Below && f.BelowSince.Equal(b.fit.BelowSince)
}
