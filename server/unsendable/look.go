package unsendable

import (
	"math"
	"strings"
	"time"

	"github.com/starling-grid/starling/server/hostversion"
	"github.com/starling-grid/starling/server/match"
	"github.com/starling-grid/starling/server/speed"
	"github.com/starling-grid/starling/server/store"
)

// few is the maximum number of active computers that may all have had results of one workunit. With
// more, at least one has had none, as workunits seldom have that many results.
const few = 100

// Look returns the work that no computer can have at now. It reads the records of hosts once, one
// result of each kind of work, and all results of a kind only where some might be untaken. It
// should be called in a View.
func Look(tx *store.View, once match.Once, now time.Time) ([]Finding, error) {
	apps, err := tx.Apps()
	if err != nil {
		return nil, err
	}
	names, stopped := make(map[int64]string), make(map[int64]bool)
	for _, a := range apps {
		names[a.ID], stopped[a.ID] = a.Name, a.Deprecated
	}
	redundancy := make(map[int64]int)
	for _, a := range apps {
		if a.HomogeneousRedundancy != match.HRNone {
			redundancy[a.ID] = a.HomogeneousRedundancy
		}
	}
	kinds, err := tx.UnsentKinds()
	if err != nil || len(kinds) == 0 {
		return nil, err
	}
	own := make(map[string]int64)
	for _, a := range apps {
		if !a.HomogeneousAppVersion {
			own[store.AnonymousPlatform(a.Name)] = a.ID
		}
	}
	j, err := judge(tx, redundancy, own, now)
	if err != nil {
		return nil, err
	}
	suspicious := false
	for _, k := range kinds {
		head, err := tx.Unsent(k, store.First, 1, store.Slice{})
		if err != nil {
			return nil, err
		}
		suspicious = suspicious || len(head) > 0 && head[0].Suspicious
		if len(head) == 0 || k != 0 && (stopped[head[0].AppID] || j.all(head[0])) { // stopped work waits on purpose
			continue
		}
		if err := tx.UnsentNeeds(k, j.Results); err != nil {
			return nil, err
		}
	}
	countable := j.hosts > 0 && j.hosts <= few
	suspicious = suspicious && j.trusted > 0 && j.trusted <= few
	if (countable || suspicious) && once.OneResult() {
		err = tx.HadByAll(now.Add(-Window), once.OneResultPerUserPerWU, !countable, func(n store.Need) {
			cause := Had
			if n.Suspicious {
				cause = Trusted
			}
			if !stopped[n.AppID] {
				j.note(n, cause, 0, 0)
			}
		})
		if err != nil {
			return nil, err
		}
	}
	return j.Findings(func(id int64) string { return names[id] }, now), nil
}

// all reports whether some computer can have the most that a result of the kind of c
// may need.
func (j *Judge) all(c store.Candidate) bool {
	_, _, _, ok := j.Lack(store.Need{
		AppID: c.AppID, AppVersionID: c.AppVersionID, HRClass: c.HRClass, Suspicious: c.Suspicious, Memory: 2 * store.AtLeast(c.RscMemoryBound),
		Disk: 2 * store.AtLeast(c.RscDiskBound), Bandwidth: 2 * store.AtLeast(c.RscBandwidthBound),
		FpopsEst: 2 * store.AtLeastHalf(c.RscFpopsEst), DelayBound: time.Duration(store.AtLeastHalf(c.DelayBound.Seconds()) * float64(time.Second)),
	})
	return ok
}

// judge reads versions and hosts. own maps the entries for volunteers' own programs in the
// platforms of hosts to their applications.
func judge(tx *store.View, redundancy map[int64]int, own map[string]int64, now time.Time) (*Judge, error) {
	rows, err := tx.AppVersions()
	if err != nil {
		return nil, err
	}
	votes, err := tx.VersionVotes()
	if err != nil {
		return nil, err
	}
	speeds := hostversion.NewSpeeds(votes, nil)
	var versions []Version
	for _, v := range rows {
		x := Version{ID: v.ID, AppID: v.AppID, Platform: v.Platform.Name, PlanClass: v.PlanClass}
		if known := speeds.Version(v.ID); known.Hosts >= speed.Quorum {
			x.Stretch = known.Stretch
		}
		versions = append(versions, x)
	}
	j := NewJudge(versions, redundancy)
	return j, tx.ActiveHosts(now.Add(-Window), func(h store.ActiveHost) {
		x := host(h)
		for _, p := range x.Platforms {
			if app := own[p]; app != 0 {
				j.Own(app, p)
			}
		}
		if len(redundancy) > 0 { // or it does not matter
			as := store.Host{OSName: h.OSName, Vendor: h.Vendor, Model: h.Model}
			x.Fine, _ = match.HRClass(match.HRFine, as)
			x.Coarse, _ = match.HRClass(match.HRCoarse, as)
		}
		j.Host(x)
	})
}

// host returns the abilities of a computer on record, as the scheduler computes them.
func host(h store.ActiveHost) Host {
	x := Host{Platforms: strings.Fields(h.Platforms), Memory: h.UsableMemory, Disk: h.UsableDisk, Bandwidth: h.BwDown, Flops: h.Fpops, Unsuited: strings.Fields(h.Unsuited), Trusted: h.Trusted}
	if len(x.Platforms) == 0 { // the resources that it may use are unknown too
		x.Memory, x.Disk = math.Inf(1), math.Inf(1)
		if h.MemBytes > 0 {
			x.Memory = h.MemBytes
		}
	}
	if x.Bandwidth <= 0 {
		x.Bandwidth = math.Inf(1) // it has not downloaded anything yet
	}
	if x.Flops <= 0 {
		x.Flops = match.Unmeasured
	}
	x.Flops = max(x.Flops, 1) // nonsense stays finite
	if on := h.OnFrac * h.ActiveFrac; h.OnFrac > 0 && h.ActiveFrac > 0 {
		x.Flops *= min(max(0.1, on), 1)
	}
	return x
}
