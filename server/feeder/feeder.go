// Package feeder keeps the head of the unsent work in memory, sorted by the properties that decide
// which hosts may have it. So a request sees only work that it may be given, and its cost does not
// depend on how much work waits for others.
//
// A result's kind (store.Workunit.Kind) is its application, the commitments of its workunit, and
// the order of magnitude of its needs. Of each kind the first results are read at once for many
// requests. Results that a request takes are leased to it until it ends, so that concurrent
// requests do not all try to get the same one. Leases only save work. A result is kept from being
// sent twice, here or by another process, by store.Tx.Send, and a lease that was in vain costs a
// second look.
package feeder

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/starling-grid/starling/server/allowance"
	"github.com/starling-grid/starling/server/store"
)

const (
	// firstPage is the number of results of a kind that are read at first. A kind that is emptied
	// fast is read in larger pages.
	firstPage = 8
	maxPage   = 512
	// localPage is the number of results of a kind that are searched for ones whose files the host
	// has.
	localPage = 64
	// halfLife is the time after which the work given to an application or a token counts half.
	halfLife = time.Hour
	// usesFor is the time for which the uses of tokens are kept.
	usesFor = 10 * time.Second
	// slight is the charge below which it is forgotten.
	slight = 1e-3
	// sentFor is the time that a result stays leased after it was sent. The snapshots of
	// transactions that started earlier still have it as unsent.
	sentFor = time.Second
)

// A Feeder is safe for concurrent use. Its zero value is ready.
type Feeder struct {
	// Fresh is the time for which results that were read are reused. If 0, they are read for each
	// request. New results of higher priority wait up to that long. A request is rarely refused
	// because of the results in memory, see barren.
	Fresh time.Duration
	// Shard returns the part of the work that this process looks at first, if several share a
	// database. If nil, this is the only process.
	Shard func() store.Shard

	mu     sync.Mutex
	heads  map[part]*head
	read   time.Time         // when the kinds were
	some   bool              // work has a target
	leased map[int64]bool    // results, by id (true: sent already)
	given  map[int64]float64 // sum of the recent costs charged to each application
	shares map[share]float64 // sum of the recent charges to each token of an application
	faded  time.Time         // when these were last brought up to date

	uses map[int64]allowance.Use // of tokens, by id
	used time.Time               // when that was read
}

// A share is the part of an application's computing time that one token gets, or work without a token.
type share struct{ app, token int64 }

func shareOf(c *store.Candidate) share { return share{c.AppID, c.TokenID} }

// A part is the unsent work of a kind, or the share of it that belongs to this process, or to
// others.
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
	whole bool // the queue has all of it

	barren []barren
}

// A Want describes the work that a request wants.
type Want struct {
	// Targets are the request's targets. It gets work for these in addition to work that is open to
	// all.
	Targets []store.Target
	// Kind reports whether results of the same kind as those in head may be of use at all. There
	// may be more results of the kind, and these have in common only the application, the
	// commitments, and the order of magnitude of their needs.
	Kind func(head []store.Candidate) bool
	// More reports whether more results of the kind of c may be of use after those that were taken.
	// If nil, they are.
	More func(c *store.Candidate) bool
	// Fits reports whether the host may have c, as far as can be known beforehand.
	Fits func(c *store.Candidate) bool
	// Fit returns the same condition as a database query for results of the application of c.
	Fit func(c *store.Candidate) store.Fit
	// Local returns the size in bytes of the input files of c that the host has already, or 0 if it
	// may not have c. If nil, the host has no files. Of results of a kind with the same priority,
	// those with the largest size are sent first.
	Local func(c *store.Candidate) int64
	// Off returns how far the size of c is from the right one for the host, or 0 if it fits. Of
	// several kinds of an application with the same priority, the one closest to the right size is
	// sent first. If nil, all sizes fit.
	Off func(c *store.Candidate) int
	// Take is called with the results that fit, in the order in which they should be sent. It
	// returns the cost that is charged to the application, which is the computing time over the
	// application's weight, and whether there should be more.
	Take func(c store.Candidate) (cost float64, more bool)
}

// A Lease has the results that are reserved for a request. It has to be ended.
type Lease struct {
	of   *Feeder
	held []int64
	cost map[int64]float64 // of each result: for End
	by   map[int64]share   // to which it belongs
	// Crowded: results that would have been of use are leased to others at the moment.
	Crowded bool
	// Stale: some of the work was looked up for other requests earlier. A request that got no work
	// ends the lease with Lost and looks again.
	Stale bool
}

// Lease goes through the useful kinds and leases results that fit, until Take has enough. The order
// is: work for a target of the request, then by priority, then work that belongs to this process,
// then the application that had the least computing time lately, then its token that had the least, then
// the order that the token's bearer gave its own work, then the right size for the host, then
// the oldest result. Work of a token whose computing time is used up waits. tx sees the database as of now.
func (f *Feeder) Lease(tx *store.View, now time.Time, w Want) (*Lease, error) {
	l := &Lease{of: f, cost: make(map[int64]float64), by: make(map[int64]share)}
	f.mu.Lock()
	defer f.mu.Unlock()
	leased := false
	defer func() {
		if !leased { // because of an error, or a panic of a function in w
			l.release(l.held)
		}
	}()
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
			return nil, err
		} else if local != nil {
			c = *local
		}
		cost, more := w.Take(c)
		f.leased[c.ID] = false
		l.held = append(l.held, c.ID)
		l.cost[c.ID], l.by[c.ID] = cost, shareOf(&c)
		if !more {
			break
		}
		if c.ID != s.next.ID {
			continue // the next one is unchanged
		}
		if err = s.advance(); err == nil && !s.ok {
			streams = slices.DeleteFunc(streams, func(x *stream) bool { return x == s })
		}
	}
	if err != nil {
		return nil, err
	}
	leased = true
	return l, nil
}

// order compares two kinds by the order in which their results are sent.
func (f *Feeder) order(a, b *stream) int {
	return cmp.Or(
		rank(a.next.Target != store.Target{})-rank(b.next.Target != store.Target{}),
		-cmp.Compare(a.next.Priority, b.next.Priority),
		rank(!a.head.of.Others)-rank(!b.head.of.Others),
		cmp.Compare(f.given[a.next.AppID], f.given[b.next.AppID]),
		cmp.Compare(f.shares[shareOf(&a.next)], f.shares[shareOf(&b.next)]),
		-cmp.Compare(a.next.OwnPriority, b.next.OwnPriority),
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

// targeted returns the work for the targets of a request. It is read for that request alone.
func (f *Feeder) targeted(tx *store.View, w Want) ([]*head, error) {
	if !f.some {
		return nil, nil
	}
	var heads []*head
	var asks []store.Question
	for _, t := range w.Targets {
		asks = append(asks, store.UnsentKindsFor(t, func(kind int64) { heads = append(heads, &head{part: part{kind: kind}}) }))
	}
	err := tx.Ask(asks...)
	return heads, err
}

// refresh sees which kinds there are, and the uses of tokens.
func (f *Feeder) refresh(tx *store.View, now time.Time, l *Lease) error {
	if f.leased == nil {
		f.heads, f.leased, f.given, f.shares = make(map[part]*head), make(map[int64]bool), make(map[int64]float64), make(map[share]float64)
	}
	if f.Fresh > 0 && now.Sub(f.read).Abs() < f.Fresh && (len(f.heads) > 0 || f.some) {
		l.Stale = true
		return nil
	}
	var kinds []int64
	f.some = false
	if err := tx.Ask(
		store.UnsentKinds(func(kind int64) { kinds = append(kinds, kind) }),
		store.Targeted(func(int64) { f.some = true }),
	); err != nil {
		return err
	}
	if f.uses == nil || now.Sub(f.used).Abs() >= usesFor {
		uses, err := allowance.All(tx, now)
		if err != nil {
			return err
		}
		f.uses, f.used = uses, now
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

// fade reduces the weight of the past, so that an application or a token that had no work for a long time
// does not get everything when it has some.
func (f *Feeder) fade(now time.Time) {
	gone := now.Sub(f.faded)
	if gone >= 0 && gone < time.Minute {
		return
	}
	f.faded = now
	left := math.Exp2(-max(gone, 0).Hours() / halfLife.Hours())
	for app := range f.given {
		f.given[app] *= left
	}
	for s := range f.shares {
		if f.shares[s] *= left; f.shares[s] < slight {
			delete(f.shares, s)
		}
	}
}

// End returns the leased results. The results in sent were sent and do not become available again.
func (l *Lease) End(sent []int64) {
	f := l.of
	f.mu.Lock()
	defer f.mu.Unlock()
	gone := make(map[int64]struct{}, len(sent))
	for _, id := range sent {
		gone[id] = struct{}{}
		if s, ok := l.by[id]; ok {
			f.given[s.app] += l.cost[id]
			f.shares[s] += f.uses[s.token].Charge(l.cost[id])
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

// Return gives back some of the leased results and keeps the others.
func (l *Lease) Return(ids []int64) {
	l.of.mu.Lock()
	defer l.of.mu.Unlock()
	l.release(ids)
	l.held = slices.DeleteFunc(l.held, func(id int64) bool { return slices.Contains(ids, id) })
	for _, id := range ids {
		delete(l.by, id)
	}
}

// Lost ends a lease if some of its results turned out to be gone: others sent them, or they are not
// needed any more. The results in memory are read again.
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

// release ends the leases of a list of results. The caller holds f.mu.
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
