package scheduler

import (
	"maps"
	"slices"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/feeder"
	"github.com/starling-grid/starling/server/store"
)

// An offer is what was found for a host before its transaction, in the order in which it
// should go. The transaction gives out of it what still holds then.
type offer struct {
	leases   []*feeder.Lease
	list     []store.Candidate
	declined []protocol.Refusal // why other work is not for it
	unfit    []store.Candidate  // that the host is too small for, one of a kind

	crowded, stale bool // as in feeder.Lease
}

// end gives back what was not sent. lost: something of it was gone already.
func (o *offer) end(sent []int64, lost bool) {
	if o == nil {
		return
	}
	for _, l := range o.leases {
		if lost {
			l.Lost()
		} else {
			l.End(sent)
		}
	}
}

// hasty reports whether there is nothing just because of what other requests are having
// or have looked up.
func (o *offer) hasty() bool { return o != nil && len(o.list) == 0 && (o.crowded || o.stale) }

// seek finds work for the host of a request, which is read, as it will be after its
// report is taken in. It changes nothing.
func (s *Scheduler) seek(tx *store.Tx, r *rpc, l *look) (*offer, error) {
	if !r.req.WantsWork() || l.id.known && l.id.host.MaxResultsDay < 0 {
		return nil, nil
	}
	// What is worked out here is worked out again in the transaction.
	one := *r
	one.tx, one.look, one.catalog, one.reply = tx, l, l.catalog, s.nucleus()
	one.user, one.host = l.id.user, l.id.host
	one.newDay = day(one.host.RPCTime) != day(r.now)
	one.describeHost()
	one.recall()
	one.limits = hostLimits(r.req)
	one.disk = one.limits.disk
	one.versions = one.choose()
	back := 0 // results that it has no longer
	for i := range r.req.Results {
		old, known := l.reported[r.req.Results[i].Name]
		if !known || !one.mayReport(old) {
			continue
		}
		if old.ServerState == store.InProgress && old.HostID == one.host.ID {
			back++
		}
		if err := one.reportedBack(accept(old, &r.req.Results[i])); err != nil {
			return nil, err
		}
	}
	room, err := one.room(back)
	if err != nil || room <= 0 {
		return nil, err
	}
	return one.find(room)
}

// find has the feeder look for work. What the host has results of already is seen
// afterwards, for all at once, and other work is looked for instead.
func (r *rpc) find(room int) (*offer, error) {
	o, bag, had := new(offer), r.bag(room), make(map[int64]bool)
	want := feeder.Want{
		Kind: func(head []store.Candidate) bool {
			if told := r.declined; len(o.leases) > 0 {
				defer func() { r.declined = told }() // once is enough
			}
			return r.suits(head)
		},
		Fits: func(c *store.Candidate) (bool, error) {
			if had[c.WorkunitID] {
				r.passOver(c.AppID, lack{code: protocol.RefusedHasOne})
				return false, nil
			}
			if once := r.s.Config.OneResultPerUserPerWU || r.s.Config.OneResultPerHostPerWU; once && bag.workunits[c.WorkunitID] {
				return false, nil
			}
			v, err := r.fit(*c)
			return v != nil, err
		},
		Fit: r.ability,
		Take: func(c store.Candidate) (cost float64, more bool) {
			o.list = append(o.list, c)
			return bag.add(c, r.version(c.AppID)) / r.weight(c.AppID), !bag.full()
		},
	}
	for found := 0; !bag.full(); found = len(o.list) {
		lease, err := r.s.Feeder.Lease(r.tx, r.now, want)
		if err != nil {
			o.end(nil, false)
			return nil, err
		}
		o.leases = append(o.leases, lease)
		o.crowded, o.stale = o.crowded || lease.Crowded, o.stale || lease.Stale
		fresh := o.list[found:]
		again, err := r.had(workunitsOf(fresh))
		if err != nil {
			o.end(nil, false)
			return nil, err
		}
		if len(again) == 0 {
			break
		}
		maps.Copy(had, again)
		var back []int64
		all := o.list
		o.list, r.limits.disk, bag = nil, r.disk, r.bag(room)
		for _, c := range all {
			if again[c.WorkunitID] {
				back = append(back, c.ID)
			} else {
				want.Take(c)
			}
		}
		lease.Return(back)
	}
	o.declined, o.unfit = r.declined, r.unfit
	return o, nil
}

func workunitsOf(list []store.Candidate) []int64 {
	ids := make([]int64, len(list))
	for i, c := range list {
		ids[i] = c.WorkunitID
	}
	return ids
}

// weight is the part of the computing time that an application is to get.
func (r *rpc) weight(appID int64) float64 {
	if w := r.catalog.apps[appID].Weight; w > 0 {
		return w
	}
	return 1
}

// suits reports whether the host could be given results of the kind of these, and notes
// why not. Others of the kind may need as little as half of what these do.
func (r *rpc) suits(head []store.Candidate) bool {
	c := head[0]
	v := r.version(c.AppID)
	if v == nil {
		// Other hosts may have a version, and the project may add one: that this host
		// has none says nothing about the results.
		why := *r.noVersion(c.AppID)
		for range head {
			r.passOver(c.AppID, why)
		}
		return false
	}
	if v = r.commitment(r.catalog.apps[c.AppID], c.HRClass, c.AppVersionID, v); v == nil {
		for range head {
			r.passOver(c.AppID, lack{code: protocol.RefusedCommitted})
		}
		return false
	}
	least := c
	least.RscMemoryBound, least.RscDiskBound = store.AtLeast(c.RscMemoryBound), store.AtLeast(c.RscDiskBound)
	least.RscBandwidthBound, least.RscFpopsEst = store.AtLeast(c.RscBandwidthBound), store.AtLeast(c.RscFpopsEst)
	least.DelayBound = 2 * c.DelayBound
	u, _ := r.usage(v)
	if r.feasible(least, u) == nil {
		return true
	}
	for i, c := range head {
		if why := r.feasible(c, u); why != nil {
			r.passOver(c.AppID, *why)
			if i == 0 {
				r.tooSmall(c, *why)
			}
		}
	}
	return false
}

// ability is what the host can do now for the application of a candidate.
func (r *rpc) ability(c *store.Candidate) store.Fit {
	f := store.Fit{
		Memory: r.limits.memory, Disk: min(r.disk, r.limits.disk), Bandwidth: r.limits.bandwidth, Now: r.now,
	}
	switch {
	case r.s.Config.OneResultPerUserPerWU:
		f.UserID = r.user.ID
	case r.s.Config.OneResultPerHostPerWU:
		f.HostID = r.host.ID
	}
	if v := r.version(c.AppID); v != nil {
		u, _ := r.usage(v)
		if start := r.queue.start(u.ncpus); start > 0 {
			f.Wait, f.PerFlop = start.Seconds(), r.duration(1e12, u).Seconds()/1e12
		}
	}
	return f
}

// tooSmall remembers a candidate that the host has too little for.
func (r *rpc) tooSmall(c store.Candidate, why lack) {
	if why.code != protocol.RefusedDeadline && !slices.ContainsFunc(r.unfit, func(x store.Candidate) bool { return x.ID == c.ID }) {
		r.unfit = append(r.unfit, c)
	}
}

// A bag is how much of what a host asks for is still missing.
type bag struct {
	r                  *rpc
	room               int
	seconds, instances float64
	workunits          map[int64]bool // of which there is a result in it
}

// bag begins a reply that brings at most room results.
func (r *rpc) bag(room int) *bag {
	r.queue = newQueue(r.req, r.limits.ncpus)
	return &bag{r, room, min(r.req.CPUReqSeconds, maxAsked), r.req.CPUReqInstances, make(map[int64]bool)}
}

func (b *bag) full() bool { return b.room == 0 || b.seconds <= 0 && b.instances <= 0 }

// add puts a result in, and returns how long it computes.
func (b *bag) add(c store.Candidate, v *version) (seconds float64) {
	r := b.r
	u, _ := r.usage(v)
	d := r.duration(c.RscFpopsEst, u)
	b.room--
	b.workunits[c.WorkunitID] = true
	b.seconds -= d.Seconds() * u.ncpus
	b.instances -= u.ncpus
	r.queue.add(d, u.ncpus)
	r.limits.disk -= c.RscDiskBound
	return d.Seconds() * u.ncpus
}
