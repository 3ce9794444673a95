package scheduler

import (
	"slices"

	"github.com/starling-grid/starling/server/feeder"
	"github.com/starling-grid/starling/server/store"
)

// search finds work for the requests that may have some, and reads all that their decisions depend on.
func (s *Scheduler) search(v *store.View, list []*rpc) error {
	list = slices.DeleteFunc(slices.Clone(list), func(r *rpc) bool { return r.err != nil || !r.seeks })
	if len(list) == 0 {
		return nil
	}
	if err := s.find(v, list); err != nil {
		return err
	}
	var kept, ids []int64
	each(list, func(r *rpc) error { return r.candidates() })
	for _, r := range list {
		if r.err == nil {
			kept, ids = append(kept, r.keptWorkunits()...), append(ids, r.committing()...)
		}
	}
	workunits := make(map[int64]store.Workunit)
	had := make(map[store.Had]bool)
	if err := v.Ask(
		s.had(list, kept, had),
		store.WorkunitsByID(ids, func(wu store.Workunit) { workunits[wu.ID] = wu }),
	); err != nil {
		return err
	}
	each(list, func(r *rpc) error {
		r.hadKept = r.hadOf(r.keptWorkunits(), had)
		return r.recommit(workunits)
	})
	return nil
}

// find makes the feeder look for work for requests, and lease it, as their offers. Workunits from which a host had a
// result already are ruled out afterwards, for all candidates at once, and other work is looked for instead.
func (s *Scheduler) find(v *store.View, list []*rpc) error {
	var open []*rpc
	each(list, func(r *rpc) error {
		if m := r.match(); !m.Full() {
			r.offer = &offer{match: m}
			open = append(open, r)
		}
		return nil
	})
	for len(open) > 0 {
		each(open, func(r *rpc) error { return r.lease(v) })
		open = slices.DeleteFunc(open, func(r *rpc) bool { return r.err != nil })
		var workunits []int64
		for _, r := range open {
			workunits = append(workunits, r.offer.unseen()...)
		}
		had := make(map[store.Had]bool)
		if err := v.Ask(s.had(open, workunits, had)); err != nil {
			return err
		}
		open = slices.DeleteFunc(open, func(r *rpc) bool { return !r.replace(had) })
	}
	return nil
}

// lease leases work from the feeder.
func (r *rpc) lease(v *store.View) error {
	o := r.offer
	m := o.match
	want := feeder.Want{
		Targets: m.Targets(), Kind: m.Kind, More: m.More, Fits: m.Fits, Fit: m.Fit,
		Take: func(c store.Candidate) (cost float64, more bool) {
			cost = m.Take(c).Cost
			return cost, !m.Full()
		},
	}
	if m.Sized() {
		want.Off = m.Off
	}
	if m.HoldsAny() {
		want.Local = m.Local
	}
	lease, err := r.s.Feeder.Lease(v, r.now, want)
	if err != nil {
		return err
	}
	o.leases = append(o.leases, lease)
	o.crowded, o.stale = o.crowded || lease.Crowded, o.stale || lease.Stale
	return nil
}

// unseen returns the workunits of the results that were leased last.
func (o *offer) unseen() (ids []int64) {
	for _, a := range o.match.Assigned()[o.seen:] {
		ids = append(ids, a.WorkunitID)
	}
	return ids
}

// replace returns leased results of workunits that the host had already. It reports whether others have to be looked
// for instead.
func (r *rpc) replace(had map[store.Had]bool) bool {
	o := r.offer
	again := o.match.Had(r.hadOf(o.unseen(), had))
	o.leases[len(o.leases)-1].Return(again)
	o.seen = len(o.match.Assigned())
	return len(again) > 0 && !o.match.Full()
}

// candidates lists the results that the host may get: first those kept for it, then those found for it.
func (r *rpc) candidates() error {
	for _, k := range r.look.kept {
		c := k.Candidate
		c.ReservedUntil = r.now // for this host it is not
		r.list = append(r.list, c)
	}
	o := r.offer
	if o == nil {
		return nil
	}
	for _, a := range o.match.Assigned() {
		o.list = append(o.list, a.Candidate)
	}
	o.refusals, o.tooSmall = o.match.Noted(), o.match.TooSmall()
	r.list = append(r.list, o.list...)
	if err := o.contended(); err != nil && !r.final {
		return err
	}
	return nil
}

func (r *rpc) keptWorkunits() (ids []int64) {
	for _, k := range r.look.kept {
		ids = append(ids, k.WorkunitID)
	}
	return ids
}

// had asks from which workunits of a list the hosts of requests, or their users, were ever sent a result, if one is
// all that they may have.
func (s *Scheduler) had(list []*rpc, workunits []int64, had map[store.Had]bool) store.Question {
	var hosts, users []int64
	for _, r := range list {
		hosts, users = append(hosts, r.host.ID), append(users, r.user.ID)
	}
	found := func(h store.Had) { had[h] = true }
	switch c := &s.Config; {
	case c.OneResultPerUserPerWU:
		return store.HadByUsers(users, workunits, found)
	case c.OneResultPerHostPerWU:
		return store.HadByHosts(hosts, workunits, found)
	}
	return store.Question{}
}

// hadOf returns the workunits in a list from which the host had its only result. It adds workunits of which this
// request makes a result the host's: one that was sent to another record of the same computer becomes the reporting host's.
func (r *rpc) hadOf(workunits []int64, had map[store.Had]bool) map[int64]bool {
	if len(workunits) == 0 {
		return nil
	}
	by, of := r.host.ID, func(x store.Result) int64 { return x.HostID }
	switch c := &r.s.Config; {
	case c.OneResultPerUserPerWU:
		by, of = r.user.ID, func(x store.Result) int64 { return x.UserID }
	case !c.OneResultPerHostPerWU || r.host.ID == 0:
		return nil
	}
	out := make(map[int64]bool)
	for _, id := range workunits {
		if had[store.Had{By: by, WorkunitID: id}] {
			out[id] = true
		}
	}
	for _, m := range r.moves {
		for _, x := range m.list {
			if of(x.Now) == by {
				out[x.Now.WorkunitID] = true
			}
		}
	}
	return out
}
