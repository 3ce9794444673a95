package hostversion

import (
	"github.com/starling-grid/starling/server/speed"
	"github.com/starling-grid/starling/server/store"
)

// Timed returns the record after a valid result that took so many seconds and was estimated at so
// many operations. It must be called for valid results only, so that the times of hosts that fail
// or cheat are not used.
func Timed(h store.HostAppVersion, seconds, fpops float64) store.HostAppVersion {
	h.Elapsed = h.Elapsed.Add(seconds, fpops)
	if h.AppVersionID < 0 { // a volunteer's own program, which others do not have
		return h
	}
	h.Vote = h.Vote.Revote(h.Elapsed, h.BenchmarkFlops)
	return h
}

// Speeds are the hosts' votes on all app versions. They are not changed once made, and safe for
// concurrent use.
type Speeds struct {
	versions map[int64]speed.Version // by app version
	groups   map[Group]speed.Version // all versions of a group together
	group    map[int64]Group         // of an app version that has votes
}

// A Group is the versions of an application that compute on one kind of processor. The error in the
// estimate of an application is the same for all of them. The fraction of a GPU's peak speed that
// its programs reach is not comparable with the speed of programs on the CPUs.
type Group struct {
	AppID int64
	Kind  string // of coprocessor ("": the CPUs)
}

// NewSpeeds counts votes. kind returns the kind of coprocessor of a plan class. If nil, all are for
// the CPUs.
func NewSpeeds(list []store.VersionVotes, kind func(planClass string) string) *Speeds {
	x := &Speeds{versions: make(map[int64]speed.Version), groups: make(map[Group]speed.Version), group: make(map[int64]Group)}
	votes := make(map[Group][]speed.Count)
	for _, v := range list {
		g := Group{AppID: v.AppID}
		if kind != nil {
			g.Kind = kind(v.PlanClass)
		}
		x.versions[v.AppVersionID] = speed.Tally(v.Votes)
		x.group[v.AppVersionID] = g
		votes[g] = append(votes[g], v.Votes...)
	}
	for g, list := range votes {
		x.groups[g] = speed.Tally(list)
	}
	return x
}

// Version returns the summary of the hosts' votes on an app version.
func (x *Speeds) Version(id int64) speed.Version { return x.versions[id] }

// Group returns the summary of the hosts' votes on all versions of a group.
func (x *Speeds) Group(g Group) speed.Version { return x.groups[g] }

// Known returns the known run times of a host with an app version of a group. benchmark is the
// speed that it should have there, in operations a second. earned has the host's record with every
// version it ever had, by version.
func (x *Speeds) Known(versionID int64, of Group, benchmark float64, earned map[int64]store.HostAppVersion) speed.Known {
	k := speed.Known{
		Benchmark: benchmark, Own: earned[versionID].Elapsed, Version: x.versions[versionID], App: x.groups[of],
	}
	latest := int64(0)
	for id, h := range earned {
		if id != versionID && id > latest && x.group[id] == of && h.Vote > 0 && h.Elapsed.N >= speed.Enough {
			latest, k.Other = id, h.Vote
		}
	}
	return k
}
