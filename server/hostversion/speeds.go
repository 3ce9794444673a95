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
	h.Vote = h.Vote.Revote(h.Elapsed, h.BenchmarkFlops)
	return h
}

// Speeds are what hosts say of all app versions. They are not changed once made, and
// safe for concurrent use.
type Speeds struct {
	versions map[int64]speed.Version // by app version
	apps     map[int64]speed.Version // all versions of an application together
	app      map[int64]int64         // of an app version that has votes
}

// NewSpeeds counts votes.
func NewSpeeds(list []store.VersionVotes) *Speeds {
	x := &Speeds{versions: make(map[int64]speed.Version), apps: make(map[int64]speed.Version), app: make(map[int64]int64)}
	votes := make(map[int64][]speed.Count)
	for _, v := range list {
		x.versions[v.AppVersionID] = speed.Tally(v.Votes)
		x.app[v.AppVersionID] = v.AppID
		votes[v.AppID] = append(votes[v.AppID], v.Votes...)
	}
	for id, list := range votes {
		x.apps[id] = speed.Tally(list)
	}
	return x
}

// Version returns what hosts say of an app version.
func (x *Speeds) Version(id int64) speed.Version { return x.versions[id] }

// Known returns what is known of a host with an app version of an application.
// benchmark is the speed that it should have there, in operations a second; earned
// is what the host has with every version it ever had, by version.
func (x *Speeds) Known(versionID, appID int64, benchmark float64, earned map[int64]store.HostAppVersion) speed.Known {
	k := speed.Known{
		Benchmark: benchmark, Own: earned[versionID].Elapsed, Version: x.versions[versionID], App: x.apps[appID],
	}
	latest := int64(0)
	for id, h := range earned {
		if id != versionID && id > latest && x.app[id] == appID && h.Vote > 0 && h.Elapsed.N >= speed.Enough {
			latest, k.Other = id, h.Vote
		}
	}
	return k
}
