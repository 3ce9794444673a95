package scheduler

import (
	"maps"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/protocol/venue"
	"github.com/starling-grid/starling/server/feeder"
	"github.com/starling-grid/starling/server/match"
	"github.com/starling-grid/starling/server/store"
)

// An offer has the work that was found for a host before its transaction, in the order in which it
// should be sent. The transaction sends the part of it that is still valid then.
type offer struct {
	leases   []*feeder.Lease
	list     []store.Candidate
	refusals []protocol.Refusal // why other work is not for it
	tooSmall []store.Candidate  // that the host is too small for, one of a kind

	crowded, stale bool // as in feeder.Lease
}

// end returns the leases of results that were not sent. If lost is set, some of the results had
// been sent to others already.
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

// contended reports whether the offer is empty only because other requests have leased the work or
// because a lookup was stale.
func (o *offer) contended() bool { return o != nil && len(o.list) == 0 && (o.crowded || o.stale) }

// seek finds work for the host of a request, which is read, as it will be after its
// report is taken in. It changes nothing.
func (s *Scheduler) seek(tx *store.View, r *rpc, l *look) (*offer, error) {
	// Values computed here are computed again in the transaction.
	one := *r
	one.db, one.tx, one.look, one.catalog, one.reply = tx, nil, l, l.catalog, s.baseReply()
	one.user, one.host = l.id.user, l.id.host
	if !l.id.known {
		one.host.UserID = l.id.user.ID
	}
	if !one.wantsWork() {
		return nil, nil
	}
	one.newDay = day(one.host.RPCTime) != day(r.now)
	one.describeHost()
	one.keep(maps.Values(l.earned))
	inProgress := maps.Clone(l.inProgress)
	for i := range r.req.Results {
		old, known := l.named[r.req.Results[i].Name]
		if !known || !one.mayReport(old) {
			continue
		}
		l.takeOff(inProgress, old, one.host.ID)
		if err := one.reportedBack(accept(old, &r.req.Results[i])); err != nil {
			return nil, err
		}
	}
	m := one.match(inProgress)
	if m.Full() {
		return nil, nil
	}
	l.can = one.can
	return one.find(m)
}

// takeOff subtracts a result that a host reports from the counts of its results in progress.
func (l *look) takeOff(inProgress map[string]int, old store.Result, hostID int64) {
	if class := l.planClass(old.AppVersionID); old.ServerState == store.InProgress && old.HostID == hostID && inProgress[class] > 0 {
		inProgress[class]--
	}
}

// planClass returns the plan class of a version, or the AnonymousClass of a volunteer's own
// version.
func (l *look) planClass(versionID int64) string {
	if _, kind, own := store.Anonymous(versionID); own {
		return store.AnonymousClass(kind)
	}
	return l.catalog.classes[versionID]
}

// match returns a Match with the programs that the host can run and the amount of work that it may
// get. r.earned must have all its records with app versions. inProgress is its number of results in
// progress, by plan class.
func (r *rpc) match(inProgress map[string]int) *match.Match {
	return r.ability().Match(r.standing(inProgress))
}

// ability returns the match.Host of the host. It is the one of the look, if that is about the same
// host.
func (r *rpc) ability() *match.Host {
	if r.can != nil {
		return r.can
	}
	same := r.look.id.host.ID == r.host.ID // else another request has made the host meanwhile
	if r.can = r.look.can; r.can != nil && (same || !r.look.id.known) {
		return r.can
	}
	f := match.Facts{
		Now: r.now, Rules: r.s.Config.Rules, Catalog: &r.catalog.Catalog, Request: r.req, Host: r.host, Team: r.user.TeamID, Speeds: r.look.speeds.Speeds, Wishes: wishesOf(r.user, r.host), Volunteer: match.Volunteer{ID: r.user.ID, Prefs: venue.Split(r.user.ProjectPrefs).For(r.host.Venue)},
		Turn: r.look.id.host.ID + r.req.RPCSeqno + 1, // the same before and in the transaction
	}
	if same {
		f.Learnt = r.look.earned
	}
	r.can = match.NewHost(f)
	return r.can
}

// find makes the feeder look for work. Workunits from which the host had a result already are ruled
// out afterwards, for all candidates at once, and other work is looked for instead.
func (r *rpc) find(m *match.Match) (*offer, error) {
	o := new(offer)
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
	for found := 0; !m.Full(); found = len(m.Assigned()) {
		lease, err := r.s.Feeder.Lease(r.db, r.now, want)
		if err != nil {
			o.end(nil, false)
			return nil, err
		}
		o.leases = append(o.leases, lease)
		o.crowded, o.stale = o.crowded || lease.Crowded, o.stale || lease.Stale
		again, err := r.had(workunitsOf(m.Assigned()[found:]))
		if err != nil {
			o.end(nil, false)
			return nil, err
		}
		if len(again) == 0 {
			break
		}
		lease.Return(m.Had(again))
	}
	for _, a := range m.Assigned() {
		o.list = append(o.list, a.Candidate)
	}
	o.refusals, o.tooSmall = m.Noted(), m.TooSmall()
	return o, nil
}

func workunitsOf(list []match.Assignment) []int64 {
	ids := make([]int64, len(list))
	for i, a := range list {
		ids[i] = a.WorkunitID
	}
	return ids
}

// had returns the workunits from which the host, or its user, was ever sent a result and so may
// have no other.
func (r *rpc) had(workunits []int64) (map[int64]bool, error) {
	switch c := &r.s.Config; {
	case c.OneResultPerUserPerWU:
		return r.db.HadByUser(r.user.ID, workunits)
	case c.OneResultPerHostPerWU && r.host.ID != 0:
		return r.db.HadByHost(r.host.ID, workunits)
	}
	return nil, nil
}
