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
	h, err := r.tx.HostAppVersion(r.host.ID, v.ID)
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

// countSent counts a result that is sent.
func (r *rpc) countSent(x store.Result) error {
	return r.tx.ChangeHostAppVersion(x, func(h store.HostAppVersion) store.HostAppVersion {
		return hostversion.Sent(h, r.s.Config.DailyResultQuota)
	})
}

// adjustQuota makes a host that fails get less work a day, and one that recovers
// get more again.
func (r *rpc) adjustQuota(x store.Result) error {
	return r.tx.ChangeHostAppVersion(x, func(h store.HostAppVersion) store.HostAppVersion {
		if x.Outcome == store.Success {
			return hostversion.Succeeded(h, r.s.Config.DailyResultQuota)
		}
		return hostversion.Failed(h)
	})
}
