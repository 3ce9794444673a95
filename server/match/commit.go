package match

import (
	"slices"
	"time"

	"github.com/starling-grid/starling/server/store"
)

// committed returns the versions with which this host may compute results of a workunit, given the
// hosts that earlier results of it went to. With homogeneous redundancy all these hosts must be of
// one class, with a homogeneous app version they must use one version. It returns an empty list if
// the workunit is for others. A version that is no longer sent out does not bind other hosts, or
// the workunit would never be done.
func (h *Host) committed(c *store.Candidate) []*store.AppVersion {
	app := h.facts.Catalog.Apps[c.AppID]
	if app.HomogeneousRedundancy != HRNone {
		mine, ok := HRClass(app.HomogeneousRedundancy, h.facts.Host)
		if !ok || c.HRClass != 0 && c.HRClass != mine {
			return nil
		}
	}
	if app.HomogeneousAppVersion && c.AppVersionID != 0 && h.facts.Catalog.inUse(c.AppVersionID) {
		if v := h.CanRun(c.AppVersionID); v != nil {
			return []*store.AppVersion{v}
		}
		return nil
	}
	return h.versions[c.AppID]
}

// committed is like Host.committed, but includes the results that this match took: with a
// homogeneous app version, a version that was taken for a workunit also binds other results of that
// workunit.
func (m *Match) committed(c *store.Candidate) []*store.AppVersion {
	list, v := m.Host.committed(c), m.taken[c.WorkunitID]
	if v != nil && m.facts.Catalog.Apps[c.AppID].HomogeneousAppVersion && slices.Contains(list, v) {
		return []*store.AppVersion{v}
	}
	return list
}

// Commits reports whether sending a result of an application may change its workunit. If so, the
// decision about a candidate must use the state of its workunit at that time.
func Commits(app store.App) bool {
	return app.HomogeneousRedundancy != HRNone || app.HomogeneousAppVersion || app.TargetNResults > 1
}

// Commit returns the workunit as it is after a result of it goes to this host with a version. The
// workunit is committed to the host's class and version. With adaptive replication it is also
// replicated, unless the host is trusted or the workunit is for this host alone. trusted is called
// only where it matters.
func (h *Host) Commit(old store.Workunit, v *store.AppVersion, trusted func() bool) store.Workunit {
	wu, app := old, h.facts.Catalog.Apps[old.AppID]
	if app.HomogeneousRedundancy != HRNone {
		wu.HRClass, _ = HRClass(app.HomogeneousRedundancy, h.facts.Host)
	}
	if app.HomogeneousAppVersion {
		wu.AppVersionID = v.ID
	}
	if n := app.TargetNResults; n > 1 && wu.TargetNResults == 1 && wu.MinQuorum == 1 && !wu.Target.Alone() && !trusted() {
		wu.TargetNResults, wu.MinQuorum = n, n
		wu.TransitionTime = earlier(wu.TransitionTime, h.facts.Now) // to make the others
	}
	return wu
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
