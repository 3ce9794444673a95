package scheduler

import (
	"iter"
	"slices"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/hostversion"
	"github.com/starling-grid/starling/server/match"
	"github.com/starling-grid/starling/server/store"
)

// earned is the host's record with an app version, before this request and now.
type earned struct{ old, now store.HostAppVersion }

// earnings returns the host's record with an app version, which the caller may change.
func (r *rpc) earnings(versionID int64) (*earned, error) {
	if err := r.recall(); err != nil {
		return nil, err
	}
	e := r.earned[versionID]
	if e == nil {
		h := store.HostAppVersion{HostID: r.host.ID, AppVersionID: versionID}
		e = &earned{h, h}
		r.earned[versionID] = e
	}
	return e, nil
}

// recall reads the host's records with app versions, once. Validators change them too, so the
// values in the look must not be stored.
func (r *rpc) recall() error {
	if r.earned != nil {
		return nil
	}
	list, err := r.tx.HostAppVersionsToChange(r.host.ID)
	if err != nil {
		return err
	}
	r.keep(slices.Values(list))
	return nil
}

func (r *rpc) keep(list iter.Seq[store.HostAppVersion]) {
	r.earned = make(map[int64]*earned)
	for h := range list {
		if r.newDay {
			h.NJobsToday = 0
		}
		r.earned[h.AppVersionID] = &earned{h, h}
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
func (r *rpc) saveEarned() error {
	for _, e := range r.earned {
		if e.now == e.old {
			continue
		}
		if err := r.tx.SaveHostAppVersion(e.now); err != nil {
			return err
		}
	}
	return nil
}

// countSent counts a result that is sent, and notes how fast it should be there.
func (r *rpc) countSent(a match.Assignment) error {
	e, err := r.earnings(a.Version.ID)
	if err != nil {
		return err
	}
	e.now = hostversion.Sent(e.now, r.s.Config.DailyResultQuota)
	e.now.BenchmarkFlops = a.Usage.Benchmark
	return nil
}

// reportedBack makes a host that fails get less work a day, and one that recovers
// get more again.
func (r *rpc) reportedBack(x store.Result) error {
	if x.AppVersionID == 0 {
		return nil
	}
	e, err := r.earnings(x.AppVersionID)
	if err != nil {
		return err
	}
	switch {
	case x.Outcome == store.Success:
		e.now = hostversion.Succeeded(e.now, r.s.Config.DailyResultQuota)
	case x.ExitStatus == protocol.ExitAbortedByProject: // the project ordered it
	default:
		e.now = hostversion.Failed(e.now)
	}
	return nil
}
