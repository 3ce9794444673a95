package scheduler

import (
	"github.com/starling-grid/starling/server/hostversion"
	"github.com/starling-grid/starling/server/store"
)

// overQuota reports whether the host has had its share for today of results for
// an app version.
func (r *rpc) overQuota(v *version) (bool, error) {
	quota := r.s.Config.DailyResultQuota
	if quota <= 0 || r.finished[v.ID] > 0 {
		return quota > 0, nil
	}
	h, err := r.earnedWith(v.ID)
	if err != nil {
		return false, err
	}
	most := hostversion.Quota(h, quota) * r.ncpus()
	if h.NJobsToday < most {
		return false, nil
	}
	if r.finished == nil {
		r.finished = make(map[int64]int)
	}
	r.finished[v.ID] = most
	r.quota = most
	return true, nil
}

// earned is what the host has earned with an app version, before this request and
// now.
type earned struct{ old, now store.HostAppVersion }

// earnedWith returns what the host has earned with an app version.
func (r *rpc) earnedWith(versionID int64) (store.HostAppVersion, error) {
	e, err := r.earnings(versionID)
	return e.now, err
}

// recall takes what the host has earned from the look, which changes nothing.
func (r *rpc) recall() {
	for _, v := range r.catalog.versions {
		h, ok := r.look.earned[v.ID]
		if !ok {
			h = store.HostAppVersion{HostID: r.host.ID, AppVersionID: v.ID}
		}
		r.keep(h)
	}
}

func (r *rpc) earnings(versionID int64) (*earned, error) {
	if e := r.earned[versionID]; e != nil {
		return e, nil
	}
	h, err := r.tx.HostAppVersion(r.host.ID, versionID)
	if err != nil {
		return new(earned), err
	}
	return r.keep(h), nil
}

func (r *rpc) keep(h store.HostAppVersion) *earned {
	if r.newDay {
		h.NJobsToday = 0
	}
	if r.earned == nil {
		r.earned = make(map[int64]*earned)
	}
	e := &earned{h, h}
	r.earned[h.AppVersionID] = e
	return e
}

// saveEarned stores what has changed.
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
func (r *rpc) countSent(x store.Result) error {
	e, err := r.earnings(x.AppVersionID)
	if err != nil {
		return err
	}
	e.now = hostversion.Sent(e.now, r.s.Config.DailyResultQuota)
	if v := r.canRun(x.AppVersionID); v != nil {
		u, _ := r.usage(v)
		e.now.BenchmarkFlops = u.benchmark
	}
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
	if x.Outcome == store.Success {
		e.now = hostversion.Succeeded(e.now, r.s.Config.DailyResultQuota)
	} else {
		e.now = hostversion.Failed(e.now)
	}
	return nil
}
