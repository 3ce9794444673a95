// Package feeder keeps the head of what can be sent in memory, sorted by what decides
// who may have it, so that a request sees only work that it may be given, and costs the
// same whatever waits for others.
//
// A result's kind (store.Workunit.Kind) is its application, what its workunit is
// committed to, and the order of magnitude of what it needs. Of each kind the first
// results are read at once for many requests. What a request takes of them is leased to
// it until it ends, so that requests that run side by side do not all go for the same
// one. That is a courtesy: what keeps a result from being sent twice, here or by another
// process, is store.Tx.Send, and a lease that was in vain costs a second look.
package feeder

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/starling-grid/starling/server/store"
)

const (
	// firstPage is how many results of a kind are read at first; a kind that is emptied
	// fast is read in larger pages.
	firstPage = 8
	maxPage   = 512
	// localPage is how many results of a kind are looked at for such whose files the host
	// has.
	localPage = 64
	// halfLife is after how long what an application was given counts for half.
	halfLife = time.Hour
	// sentFor is how long a result that was sent stays leased. The snapshots of
	// transactions that began before hold it still as unsent.
	sentFor = time.Second
)

// A Feeder is safe for concurrent use. Its zero value is ready.
type Feeder struct {
	// Fresh is how long what was read is handed out; 0: it is read for each request.
	// New results of higher priority wait so long at most. Hardly a request is refused by
	// what is in memory: see barren.
	Fresh time.Duration
	// Shard tells what this process goes for first, where several share a database; nil: it
	// is the only one.
	Shard func() store.Shard

	mu     sync.Mutex
	heads  map[part]*head
	read   time.Time         // when the kinds were
	some   bool              // work has a target
	leased map[int64]bool    // results, by id; true: sent already
	given  map[int64]float64 // to each application lately: the sum of what counts against it
	faded  time.Time         // when that was last brought up to date
}

// A part is what waits of a kind, or of that what belongs to this process, or to others.
type part struct {
	kind int64
	of   store.Slice
}

// A head is the beginning of the queue of a part.
type head struct {
	part
	queue []store.Candidate
	last  store.Place // read of it
	since time.Time
	page  int  // to read next
	whole bool // there is nothing behind

	barren []barren
}

// A Want is what a request wants to be given.
type Want struct {
	// Targets are whom work may be for beside anybody.
	Targets []store.Target
	// Kind reports whether results of the kind of these may be of use at all. There may
	// be more of it, which differ in all but the application, the commitments, and the
	// order of magnitude of what they need.
	Kind func(head []store.Candidate) bool
	// More reports whether results of the kind of c may still be of use after what was
	// taken; nil: they are.
	More func(c *store.Candidate) bool
	// Fits reports whether the host may have c, as far as can be known beforehand.
	Fits func(c *store.Candidate) bool
	// Fit says the same to the database for results of the application of c.
	Fit func(c *store.Candidate) store.Fit
	// Local returns how many bytes of the input files of c the host has already; 0 also if
	// it may not have c. nil: the host has no files. Of results of a kind that have the
	// same priority, those go first of which it has most.
	Local func(c *store.Candidate) int64
	// Off returns how unfit in size c is for the host, 0 if it is not. Of several kinds of an
	// application that have the same priority, the least unfit goes first. nil: none is.
	Off func(c *store.Candidate) int
	// Take is told what fits, in the order in which it should go. It returns what that
	// counts for against its application, the computing time over the application's
	// weight, and whether there should be more.
	Take func(c store.Candidate) (cost float64, more bool)
}

// A Lease is what a request has for itself. It has to be ended.
type Lease struct {
	of   *Feeder
	held []int64
	cost map[int64]float64 // of each result: for End
	by   map[int64]int64   // application of each
	// Crowded: what would have been of use is leased to others at the moment.
	Crowded bool
	// Stale: some of what there is was looked up for others before. Who got nothing ends
	// the lease with Lost and looks again.
	Stale bool
}

// Lease goes through the kinds of use and leases what fits, until Take has enough: what is
// for a target of the request, then by priority, and where that is the same what belongs to
// this process, then the application that had least computing time
// lately, then what is of the right size for the host, then the oldest result. tx sees the database as of now.
func (f *Feeder) Lease(tx *store.View, now time.Time, w Want) (*Lease, error) {
	l := &Lease{of: f, cost: make(map[int64]float64), by: make(map[int64]int64)}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fade(now)
	streams, err := f.streams(tx, now, w, l)
	for err == nil && len(streams) > 0 {
		s := slices.MinFunc(streams, f.order)
		c := s.next
		if w.More != nil && !w.More(&c) {
			streams = slices.DeleteFunc(streams, func(x *stream) bool { return x == s })
			continue
		}
		if local, err := s.local(); err != nil {
			l.release(l.held)
			return nil, err
		} else if local != nil {
			c = *local
		}
		cost, more := w.Take(c)
		f.leased[c.ID] = false
		l.held = append(l.held, c.ID)
		l.cost[c.ID], l.by[c.ID] = cost, c.AppID
		if !more {
			break
		}
		if c.ID != s.next.ID {
			continue // what would have been next still is
		}
		if err = s.advance(); err == nil && !s.ok {
			streams = slices.DeleteFunc(streams, func(x *stream) bool { return x == s })
		}
	}
	if err != nil {
		l.release(l.held)
		return nil, err
	}
	return l, nil
}

// order says which of two kinds goes first.
func (f *Feeder) order(a, b *stream) int {
	return cmp.Or(
		rank(a.next.Target != store.Target{})-rank(b.next.Target != store.Target{}),
		-cmp.Compare(a.next.Priority, b.next.Priority),
		rank(!a.head.of.Others)-rank(!b.head.of.Others),
		cmp.Compare(f.given[a.next.AppID], f.given[b.next.AppID]),
		cmp.Compare(a.off, b.off),
		cmp.Compare(a.next.ID, b.next.ID),
	)
}

// streams are the kinds that have something for a request.
func (f *Feeder) streams(tx *store.View, now time.Time, w Want, l *Lease) ([]*stream, error) {
	if err := f.refresh(tx, now, l); err != nil {
		return nil, err
	}
	heads, err := f.targeted(tx, w)
	if err != nil {
		return nil, err
	}
	var found []*stream
	for _, h := range slices.AppendSeq(heads, maps.Values(f.heads)) {
		s := &stream{f: f, tx: tx, now: now, want: w, lease: l, head: h, after: store.First}
		if err := s.begin(); err != nil {
			return nil, err
		}
		if s.ok {
			found = append(found, s)
		}
	}
	return found, nil
}

// targeted returns what is for the targets of a request. It is read for that request alone.
func (f *Feeder) targeted(tx *store.View, w Want) ([]*head, error) {
	if !f.some {
		return nil, nil
	}
	var looks []func() error
	lists := make([][]int64, len(w.Targets))
	for i, t := range w.Targets {
		looks = append(looks, func() (err error) { lists[i], err = tx.UnsentKindsFor(t); return err })
	}
	if err := tx.Together(looks...); err != nil {
		return nil, err
	}
	var heads []*head
	for _, k := range slices.Concat(lists...) {
		heads = append(heads, &head{part: part{kind: k}})
	}
	return heads, nil
}

// refresh sees which kinds there are.
func (f *Feeder) refresh(tx *store.View, now time.Time, l *Lease) error {
	if f.leased == nil {
		f.heads, f.leased, f.given = make(map[part]*head), make(map[int64]bool), make(map[int64]float64)
	}
	if f.Fresh > 0 && now.Sub(f.read).Abs() < f.Fresh && (len(f.heads) > 0 || f.some) {
		l.Stale = true
		return nil
	}
	var kinds []int64
	err := tx.Together(
		func() (err error) { kinds, err = tx.UnsentKinds(); return err },
		func() (err error) { f.some, err = tx.Targeted(); return err },
	)
	if err != nil {
		return err
	}
	parts := make([]store.Slice, 1, 2)
	if f.Shard != nil {
		if s := f.Shard(); s.Count > 1 {
			parts = []store.Slice{{Shard: s}, {Shard: s, Others: true}}
		}
	}
	heads := make(map[part]*head, len(kinds)*len(parts))
	for _, k := range kinds {
		for _, s := range parts {
			p := part{k, s}
			if heads[p] = f.heads[p]; heads[p] == nil {
				heads[p] = &head{part: p}
			}
		}
	}
	f.heads, f.read = heads, now
	return nil
}

// fade lets the past count for less, so that an application which had nothing to send for
// long does not get everything when it has.
func (f *Feeder) fade(now time.Time) {
	gone := now.Sub(f.faded)
	if gone >= 0 && gone < time.Minute {
		return
	}
	f.faded = now
	for app := range f.given {
		f.given[app] *= math.Exp2(-max(gone, 0).Hours() / halfLife.Hours())
	}
}

// End gives back what was leased. sent is what was sent of it, for good.
func (l *Lease) End(sent []int64) {
	f := l.of
	f.mu.Lock()
	defer f.mu.Unlock()
	gone := make(map[int64]struct{}, len(sent))
	for _, id := range sent {
		gone[id] = struct{}{}
		if app, ok := l.by[id]; ok {
			f.given[app] += l.cost[id]
		}
	}
	l.release(slices.DeleteFunc(l.held, func(id int64) bool {
		_, ok := gone[id]
		return ok
	}))
	l.held = nil
	if len(sent) == 0 {
		return
	}
	for _, h := range f.heads {
		h.drop(gone)
	}
	for _, id := range sent {
		f.leased[id] = true
	}
	time.AfterFunc(sentFor, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		l.release(sent)
	})
}

// Return gives back some of what was leased, while the rest is kept.
func (l *Lease) Return(ids []int64) {
	l.of.mu.Lock()
	defer l.of.mu.Unlock()
	l.release(ids)
	l.held = slices.DeleteFunc(l.held, func(id int64) bool { return slices.Contains(ids, id) })
	for _, id := range ids {
		delete(l.by, id)
	}
}

// Lost ends a lease of which something turned out to be gone: others sent it, or it is
// not needed any more. What is in memory is read anew.
func (l *Lease) Lost() {
	l.End(nil)
	f := l.of
	f.mu.Lock()
	defer f.mu.Unlock()
	f.read = time.Time{}
	for _, h := range f.heads {
		h.since = time.Time{}
	}
}

func (l *Lease) has(id int64) bool { _, ok := l.by[id]; return ok }

// release ends leases; f.mu is held.
func (l *Lease) release(list []int64) {
	for _, id := range list {
		delete(l.of.leased, id)
	}
}

func (h *head) drop(gone map[int64]struct{}) {
	h.queue = slices.DeleteFunc(h.queue, func(c store.Candidate) bool {
		_, ok := gone[c.ID]
		return ok
	})
}
