package scheduler

import (
	"fmt"
	"maps"
	"slices"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/hostversion"
	"github.com/starling-grid/starling/server/match"
	"github.com/starling-grid/starling/server/store"
)

// earned is the host's record with an app version, before this request and now.
type earned struct {
	old, now store.HostAppVersion
	new      bool // it is not stored yet
}

// earnings returns the host's record with an app version, which the caller may change.
func (r *rpc) earnings(versionID int64) *earned {
	e := r.earned[versionID]
	if e == nil {
		h := store.HostAppVersion{HostID: r.host.ID, AppVersionID: versionID}
		e = &earned{h, h, true}
		r.earned[versionID] = e
	}
	return e
}

// recall copies the host's records with app versions from the look.
func (r *rpc) recall() {
	r.earned = make(map[int64]*earned)
	for id, h := range r.look.earned {
		e := &earned{old: h, now: h}
		if r.newDay {
			e.now.NJobsToday = 0
		}
		r.earned[id] = e
	}
}

// standing returns the facts that determine how much work the host gets. inProgress is its number
// of results, by plan class.
func (r *rpc) standing(inProgress map[string]int) match.Standing {
	s := match.Standing{InProgress: inProgress, Beside: r.beside(), Earned: make(map[int64]store.HostAppVersion, len(r.earned))}
	for id, e := range r.earned {
		s.Earned[id] = e.now
	}
	return s
}

// beside returns the applications that need little CPU time and of which the host has a result
// according to its request.
func (r *rpc) beside() map[int64]bool {
	apps := make(map[int64]bool)
	for i := range r.req.OtherResults {
		if x, known := r.look.named[r.req.OtherResults[i].Name]; known && r.catalog.Apps[x.AppID].NonCPUIntensive {
			apps[x.AppID] = true
		}
	}
	return apps
}

// saveEarned stores the records that have changed.
func (r *rpc) saveEarned(to *store.Changes) error {
	for _, id := range slices.Sorted(maps.Keys(r.earned)) {
		save, e := to.SaveWork, r.earned[id]
		if e.new {
			save = func(_, now store.HostAppVersion) error { return to.AddWork(now) }
		}
		if e.now == e.old {
			continue
		}
		if err := save(e.old, e.now); err != nil {
			return fmt.Errorf("host %d with app version %d: %w", r.host.ID, id, err)
		}
	}
	return nil
}

// countSent counts a result that is sent, and notes how fast it should be there.
func (r *rpc) countSent(a *match.Assignment) {
	e := r.earnings(a.Version.ID)
	e.now = hostversion.Sent(e.now, r.s.Config.DailyResultQuota)
	e.now.BenchmarkFlops = a.Usage.Benchmark
}

// reportedBack makes a host that fails get less work a day, and one that recovers
// get more again.
func (r *rpc) reportedBack(old, x store.Result) {
	if x.AppVersionID == 0 {
		return
	}
	e := r.earnings(x.AppVersionID)
	switch {
	case x.Outcome == store.Success:
		e.now = hostversion.Succeeded(e.now, r.s.Config.DailyResultQuota)
	case x.ExitStatus == protocol.ExitAbortedByProject && r.mayBeOrdered(old): // by the project's order
	default:
		e.now = hostversion.Failed(e.now, r.s.Config.DailyResultQuota)
	}
}

// mayBeOrdered reports whether the project may have ordered the abort of a result. The report alone is not enough: any
// host can claim an order.
func (r *rpc) mayBeOrdered(old store.Result) bool {
	wu, there := r.look.aborted[old.WorkunitID]
	return !there || old.ServerState != store.InProgress || // it was late
		wu.ErrorMask != 0 || wu.CanonicalResultID != 0 || old.ID <= wu.RetriedResultID // given up then, and revived
}
