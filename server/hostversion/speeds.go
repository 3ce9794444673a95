package hostversion

import (
	"github.com/starling-grid/starling/server/speed"
	"github.com/starling-grid/starling/server/store"
)

// Timed returns what is learnt from how long a valid result took: seconds for so many
// operations as were estimated. It is for valid results alone, so that hosts that fail
// or lie teach nothing.
func Timed(h store.HostAppVersion, seconds, fpops float64) store.HostAppVersion {
	h.Elapsed = h.Elapsed.Add(seconds, fpops)
	if h.AppVersionID < 0 { // a volunteer's own program: it says nothing of those that others have
		return h
	}
	h.Vote = h.Vote.Revote(h.Elapsed, h.BenchmarkFlops)
	return h
}

// Speeds are what hosts say of all app versions. They are not changed once made, and
// safe for concurrent use.
type Speeds struct {
	versions map[int64]speed.Version // by app version
	groups   map[Group]speed.Version // all versions of a group together
	group    map[int64]Group         // of an app version that has votes
}

// A Group is the versions of an application that compute on one kind of processor. How
// wrong the estimate of an application is tells of all of them. What part of a GPU's peak
// speed its programs reach tells nothing of those on the CPUs.
type Group struct {
	AppID int64
	Kind  string // of coprocessor; "": the CPUs
}

// NewSpeeds counts votes. kind tells the kind of coprocessor of a plan class; nil: all are
// for the CPUs.
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

// Version returns what hosts say of an app version.
func (x *Speeds) Version(id int64) speed.Version { return x.versions[id] }

// Group returns what hosts say of all versions of a group.
func (x *Speeds) Group(g Group) speed.Version { return x.groups[g] }

// Known returns what is known of a host with an app version of a group.
// benchmark is the speed that it should have there, in operations a second; earned
// is what the host has with every version it ever had, by version.
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
