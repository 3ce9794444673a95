package hostversion_test

import (
	"testing"

	"github.com/starling-grid/starling/server/hostversion"
	"github.com/starling-grid/starling/server/speed"
	"github.com/starling-grid/starling/server/store"
)

// The ratio of the speed of versions for GPUs to the peak speed is not used for versions for CPUs.
func TestKindsOfProcessorsLearnApart(t *testing.T) {
	votes := []store.VersionVotes{
		{AppVersionID: 1, AppID: 7, Votes: []speed.Count{{Vote: 100, Hosts: 9}}},
		{AppVersionID: 2, AppID: 7, PlanClass: "cuda", Votes: []speed.Count{{Vote: 117, Hosts: 9}}},
	}
	x := hostversion.NewSpeeds(votes, func(class string) string { return map[string]string{"cuda": "NVIDIA"}[class] })
	earned := map[int64]store.HostAppVersion{2: {Vote: 117, Elapsed: speed.Average{N: speed.Enough, Mean: 1e-9}}}
	for _, tt := range []struct {
		of      hostversion.Group
		stretch float64
		other   speed.Vote
	}{
		{hostversion.Group{AppID: 7}, speed.Vote(100).Stretch(), 0},
		{hostversion.Group{AppID: 7, Kind: "NVIDIA"}, speed.Vote(117).Stretch(), 117},
		{hostversion.Group{AppID: 7, Kind: "ATI"}, 0, 0},
		{hostversion.Group{AppID: 8}, 0, 0},
	} {
		if k := x.Known(3, tt.of, 1e9, earned); k.App.Stretch != tt.stretch || k.Other != tt.other {
			t.Errorf("%+v: a stretch of %v, and %v of the host; want %v, %v", tt.of, k.App.Stretch, k.Other, tt.stretch, tt.other)
		}
	}
}

// A volunteer's own program has run times like all, but no vote: others do not have it.
func TestAVolunteersOwnProgramHasNoVote(t *testing.T) {
	for id, votes := range map[int64]bool{4: true, store.AnonymousVersion(7, ""): false} {
		h := store.HostAppVersion{AppVersionID: id, BenchmarkFlops: 1e9}
		for range speed.Enough {
			h = hostversion.Timed(h, 100, 1e9)
		}
		if h.Elapsed.N != speed.Enough || (h.Vote > 0) != votes {
			t.Errorf("version %d: %d samples, vote %d", id, h.Elapsed.N, h.Vote)
		}
	}
}
