package scheduler

import (
	"fmt"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/protocol/venue"
	"github.com/starling-grid/starling/server/feeder"
	"github.com/starling-grid/starling/server/match"
	"github.com/starling-grid/starling/server/store"
)

// An offer has the work that was found for a host, in the order in which it should be sent.
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

// Errors for a request that may find work if it starts again, at once or after a pause.
var (
	errStale   = fmt.Errorf("the work was looked up for other requests earlier: %w", store.ErrLost)
	errCrowded = fmt.Errorf("other requests have leased the work: %w", store.ErrLost)
)

// contended returns an error if the offer is empty only because other requests have leased the work or
// because a lookup was stale.
func (o *offer) contended() error {
	switch {
	case len(o.list) > 0:
		return nil
	case o.crowded:
		return errCrowded
	case o.stale:
		return errStale
	}
	return nil
}

// takeOff subtracts a result that is over from the counts of the results in progress.
func (r *rpc) takeOff(old store.Result) {
	if class := r.look.planClass(old.AppVersionID); old.ServerState == store.InProgress && old.HostID == r.host.ID && r.inProgress[class] > 0 {
		r.inProgress[class]--
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

// match returns a Match with the programs that the host can run and the amount of work that it may get.
func (r *rpc) match() *match.Match { return r.ability().Match(r.standing(r.inProgress)) }

// ability returns the match.Host of the host.
func (r *rpc) ability() *match.Host {
	if r.can != nil {
		return r.can
	}
	f := match.Facts{
		Now: r.now, Rules: r.s.Config.Rules, Catalog: &r.catalog.Catalog, Request: r.req, Host: r.host, Team: r.user.TeamID, Trusted: r.user.Trusted, Speeds: r.look.speeds.Speeds, Wishes: wishesOf(r.user, r.host), Volunteer: match.Volunteer{ID: r.user.ID, Prefs: venue.Split(r.user.ProjectPrefs).For(r.host.Venue)},
		Turn: r.look.id.host.ID + r.req.RPCSeqno + 1, Learnt: r.look.earned,
	}
	r.can = match.NewHost(f)
	return r.can
}

// find makes the feeder look for work, and lease it, as r.offer. Workunits from which the host had a
// result already are ruled out afterwards, for all candidates at once, and other work is looked for
// instead.
func (r *rpc) find(m *match.Match) error {
	o := new(offer)
	r.offer = o
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
			return err
		}
		o.leases = append(o.leases, lease)
		o.crowded, o.stale = o.crowded || lease.Crowded, o.stale || lease.Stale
		again, err := r.had(workunitsOf(m.Assigned()[found:]))
		if err != nil {
			return err
		}
		if len(again) == 0 {
			break
		}
		lease.Return(m.Had(again))
	}
	o.list = make([]store.Candidate, 0, len(m.Assigned()))
	for _, a := range m.Assigned() {
		o.list = append(o.list, a.Candidate)
	}
	o.refusals, o.tooSmall = m.Noted(), m.TooSmall()
	return nil
}

func workunitsOf(list []match.Assignment) []int64 {
	ids := make([]int64, len(list))
	for i, a := range list {
		ids[i] = a.WorkunitID
	}
	return ids
}

// had returns the workunits from which the host, or its user, was ever sent a result and so may
// have no other. This includes results that this request makes the host's: one that was sent to
// another record of the same computer becomes the reporting host's.
func (r *rpc) had(workunits []int64) (had map[int64]bool, err error) {
	mine := func(x store.Result) bool { return x.HostID == r.host.ID }
	switch c := &r.s.Config; {
	case c.OneResultPerUserPerWU:
		mine = func(x store.Result) bool { return x.UserID == r.user.ID }
		had, err = r.db.HadByUser(r.user.ID, workunits)
	case c.OneResultPerHostPerWU && r.host.ID != 0:
		had, err = r.db.HadByHost(r.host.ID, workunits)
	default:
		return nil, nil
	}
	for _, m := range r.moves {
		for _, x := range m.list {
			if had != nil && mine(x.Now) {
				had[x.Now.WorkunitID] = true
			}
		}
	}
	return had, err
}
