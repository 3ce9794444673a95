package scheduler

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/starling-grid/starling/server/hostversion"
	"github.com/starling-grid/starling/server/store"
)

// commitment returns the version with which this host may compute results of a
// workunit, given what earlier results of it went to: with homogeneous redundancy
// hosts of one class, with a homogeneous app version hosts with one version. It
// returns nil if the workunit is for others. A version that is not handed out any
// more binds nobody, or the workunit would never be done.
func (r *rpc) commitment(app store.App, class, versionID int64, v *version) *version {
	if app.HomogeneousRedundancy != hrNone {
		mine, ok := hrClass(app.HomogeneousRedundancy, r.host)
		if !ok || class != 0 && class != mine {
			return nil
		}
	}
	if app.HomogeneousAppVersion && versionID != 0 && versionID != v.ID && r.catalog.inUse(versionID) {
		return r.canRun(versionID)
	}
	return v
}

// canRun returns a version, if it is in use and this host can run it, though
// there may be a newer one.
func (r *rpc) canRun(id int64) *version {
	for _, v := range r.catalog.versions {
		if v.ID != id || !slices.Contains(r.platforms(), v.Platform.Name) {
			continue
		}
		if _, lack := r.usage(v); lack == nil {
			return v
		}
	}
	return nil
}

// commits reports whether sending a result of an application may change its workunit.
func commits(app store.App) bool {
	return app.HomogeneousRedundancy != hrNone || app.HomogeneousAppVersion || app.TargetNResults > 1
}

// commit returns what a workunit is after a result of it goes to this host with
// version v: committed to the host's class and version, and, with adaptive
// replication, replicated unless the host is trusted. It returns nil for v if the
// workunit was committed to others meanwhile.
func (r *rpc) commit(old store.Workunit, v *version) (store.Workunit, *version, error) {
	wu, app := old, r.catalog.apps[old.AppID]
	if v = r.commitment(app, old.HRClass, old.AppVersionID, v); v == nil {
		return wu, nil, nil
	}
	if app.HomogeneousRedundancy != hrNone {
		wu.HRClass, _ = hrClass(app.HomogeneousRedundancy, r.host)
	}
	if app.HomogeneousAppVersion {
		wu.AppVersionID = v.ID
	}
	if n := app.TargetNResults; n > 1 && wu.TargetNResults == 1 && wu.MinQuorum == 1 {
		h, err := r.earnedWith(v.ID)
		if err != nil {
			return wu, nil, err
		}
		if !r.s.trusted(h) {
			wu.TargetNResults, wu.MinQuorum = n, n
			wu.TransitionTime = earlier(wu.TransitionTime, r.now) // to make the others
		}
	}
	return wu, v, nil
}

func (s *Scheduler) trusted(h store.HostAppVersion) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.Rand == nil {
		s.Rand = rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
	}
	return hostversion.Trusted(h, s.Rand)
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
