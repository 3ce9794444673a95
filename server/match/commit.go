package match

import (
	"slices"
	"time"

	"github.com/starling-grid/starling/server/store"
)

// committed returns the versions with which this host may compute results of a workunit,
// given what earlier results of it went to: with homogeneous redundancy hosts of one
// class, with a homogeneous app version hosts with one version. It returns none if the
// workunit is for others. A version that is not handed out any more binds nobody, or the
// workunit would never be done.
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

// committed is Host.committed after what was taken: with a homogeneous app version it binds
// the results of its workunits that may be taken too.
func (m *Match) committed(c *store.Candidate) []*store.AppVersion {
	list, v := m.Host.committed(c), m.taken[c.WorkunitID]
	if v != nil && m.facts.Catalog.Apps[c.AppID].HomogeneousAppVersion && slices.Contains(list, v) {
		return []*store.AppVersion{v}
	}
	return list
}

// Commits reports whether sending a result of an application may change its workunit.
// Then candidates are to be decided on with what their workunits are committed to at
// that time.
func Commits(app store.App) bool {
	return app.HomogeneousRedundancy != HRNone || app.HomogeneousAppVersion || app.TargetNResults > 1
}

// Commit returns what a workunit is after a result of it goes to this host with a
// version: committed to the host's class and version, and, with adaptive replication,
// replicated unless the host is trusted or the workunit is for it alone. trusted is asked only where it matters.
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
