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
	match    *match.Match // of the search
	seen     int          // results of it that were looked up
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
