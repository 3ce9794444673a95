package feeder

import (
	"time"

	"github.com/starling-grid/starling/server/store"
)

// A stream yields the results of one kind that one request may have, in order. It goes through the
// results in memory. If these do not fit the host, the stream queries the database for results that
// do.
type stream struct {
	f     *Feeder
	tx    *store.View
	now   time.Time
	want  Want
	lease *Lease
	head  *head

	at     int         // in head.queue, the next to look at
	after  store.Place // own begins behind it
	misfit bool        // something in memory did not fit
	own    []store.Candidate
	ended  bool // own is all that is left

	next store.Candidate
	off  int // Want.Off of next
	ok   bool
}

// begin reads the head of the kind, if it is of use at all, and moves to the first result that
// fits.
func (s *stream) begin() error {
	h := s.head
	if s.f.Fresh <= 0 || s.now.Sub(h.since).Abs() >= s.f.Fresh {
		h.queue, h.whole, h.since, h.page = nil, false, s.now, firstPage
	}
	if len(h.queue) == 0 {
		if err := s.read(); err != nil || len(h.queue) == 0 {
			return err
		}
	} else {
		s.lease.Stale = true
	}
	if h.kind != 0 && (s.held(&h.queue[0]) || !s.want.Kind(h.queue)) {
		return nil
	}
	return s.advance()
}

// held reports whether a result waits because its token has used up its computing time.
func (s *stream) held(c *store.Candidate) bool {
	return c.TokenID != 0 && s.f.uses[c.TokenID].Over()
}

// read reads more of the kind for all requests.
func (s *stream) read() error {
	h := s.head
	if len(h.queue) == 0 {
		h.last = store.First
	}
	more, err := s.tx.Unsent(h.kind, h.last, h.page, h.of)
	if err != nil {
		return err
	}
	h.whole = len(more) < h.page
	h.page = min(2*h.page, maxPage)
	if n := len(more); n > 0 {
		h.last = more[n-1].Place()
	}
	h.queue = append(h.queue, more...)
	return nil
}

func rank(first bool) int {
	if first {
		return 0
	}
	return 1
}

// advance moves to the next result that fits and is not leased.
func (s *stream) advance() error {
	s.ok = false
	for {
		c, err := s.candidate()
		if c == nil || err != nil {
			return err
		}
		if sent, taken := s.f.leased[c.ID]; taken {
			s.lease.Crowded = s.lease.Crowded || !sent && !s.lease.has(c.ID)
			continue
		}
		if s.held(c) {
			continue
		}
		if s.want.Fits(c) {
			s.next, s.ok = *c, true
			if s.want.Off != nil {
				s.off = s.want.Off(c)
			}
			return nil
		}
		s.misfit = true
	}
}

// local returns the result that should replace the next one. It is the one whose files the host has
// most of, among results of the kind that could be sent instead. It returns nil if the next one
// stays.
func (s *stream) local() (best *store.Candidate, err error) {
	if s.want.Local == nil {
		return nil, nil
	}
	h := s.head
	for len(h.queue) < localPage && !h.whole && h.last.Priority >= s.next.Priority {
		if err := s.read(); err != nil {
			return nil, err
		}
	}
	most := s.want.Local(&s.next)
	for i := range h.queue {
		c := &h.queue[i]
		if c.Priority != s.next.Priority || c.Target != s.next.Target || c.ID == s.next.ID {
			continue
		}
		if _, taken := s.f.leased[c.ID]; taken {
			continue
		}
		if n := s.want.Local(c); n > most {
			best, most = c, n
		}
	}
	return best, nil
}

// candidate returns the next result to look at, or nil at the end.
func (s *stream) candidate() (*store.Candidate, error) {
	h := s.head
	for s.own == nil && !s.misfit {
		if s.at < len(h.queue) {
			s.at++
			c := &h.queue[s.at-1]
			s.after = c.Place()
			return c, nil
		}
		if h.whole {
			return nil, nil
		}
		if err := s.read(); err != nil {
			return nil, err
		}
	}
	// The results in memory do not fit this host, or it has results of the same workunits already.
	// The stream therefore queries the database.
	if len(s.own) == 0 {
		if s.ended || s.want.More != nil && !s.want.More(&h.queue[0]) {
			return nil, nil
		}
		var err error
		if s.own, err = s.find(s.want.Fit(&h.queue[0])); err != nil {
			return nil, err
		}
		s.ended = len(s.own) < firstPage
		if len(s.own) == 0 {
			return nil, nil
		}
	}
	c := &s.own[0]
	s.own, s.after = s.own[1:], c.Place()
	return c, nil
}
