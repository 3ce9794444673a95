package storetest

import (
	"math"
	"reflect"
	"testing"

	"github.com/starling-grid/starling/server/speed"
	"github.com/starling-grid/starling/server/store"
)

// speeds checks that the record of a host and a version is read as it was stored, and that votes
// are counted by version.
func speeds(t *testing.T, s *store.Store) {
	w := Fill(t, s)
	var versions []int64
	Update(t, s, func(tx *store.Tx) error {
		p, err := tx.EnsurePlatform(store.Platform{Name: "p"}, T0)
		if err != nil {
			return err
		}
		versions = nil
		for n := range 2 {
			id, err := tx.InsertAppVersion(store.AppVersion{CreateTime: T0, AppID: w.App.ID, VersionNum: n + 1, Platform: p})
			if err != nil {
				return err
			}
			versions = append(versions, id)
		}
		return tx.DeprecateVersion(versions[0])
	})
	want := store.HostAppVersion{
		HostID: 5, AppVersionID: versions[1], MaxJobsPerDay: 1, NJobsToday: 2, ConsecutiveValid: 3, BenchmarkFlops: 1.5e9, Vote: 124, ErrorRate: 0.25, TurnaroundN: 7, Turnaround: 3600.5,
		Elapsed: speed.Average{N: 12, Mean: 1.0 / 3e9, Var: math.Pi * 1e-20, Odd: -3, OddMean: 1e-12},
	}
	Update(t, s, func(tx *store.Tx) error {
		for host, vote := range map[int64]speed.Vote{1: 100, 2: 100, 3: 199, 4: 0} {
			if err := tx.SaveHostAppVersion(store.HostAppVersion{HostID: host, AppVersionID: versions[0], Vote: vote}); err != nil {
				return err
			}
		}
		return tx.SaveHostAppVersion(want)
	})
	view(t, s, func(tx *store.View) error {
		if got, err := tx.HostAppVersion(5, versions[1]); err != nil || got != want {
			t.Errorf("got %+v, %v\nwant %+v", got, err, want)
		}
		got, err := tx.VersionVotes()
		if want := []store.VersionVotes{
			{AppVersionID: versions[0], AppID: w.App.ID, Votes: []speed.Count{{Vote: 100, Hosts: 2}, {Vote: 199, Hosts: 1}}},
			{AppVersionID: versions[1], AppID: w.App.ID, Votes: []speed.Count{{Vote: 124, Hosts: 1}}},
		}; !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v\nwant %+v", got, want)
		}
		return err
	})
}
