package storetest

import (
	"maps"
	"testing"

	"github.com/starling-grid/starling/server/store"
)

// What a host computes is counted by plan class, of versions that are not handed out any
// more as well.
func inProgress(t *testing.T, s *store.Store) {
	w := Fill(t, s)
	_, rs := Add(t, s, w.Workunit("counted"), 4)
	update(t, s, func(tx *store.Tx) error {
		p, err := tx.EnsurePlatform(store.Platform{Name: "p"}, T0)
		if err != nil {
			return err
		}
		sent := w.sent(rs[:3])
		for i, class := range []string{"", "cuda", "cuda"} {
			sent[i].AppVersionID, err = tx.InsertAppVersion(store.AppVersion{CreateTime: T0, AppID: w.App.ID, VersionNum: 100 + i, Platform: p, PlanClass: class})
			if err != nil {
				return err
			}
			if err := tx.SaveHostAppVersion(store.HostAppVersion{HostID: w.Host.ID, AppVersionID: sent[i].AppVersionID, Vote: 100}); err != nil {
				return err
			}
		}
		if err := tx.DeprecateVersion(sent[2].AppVersionID); err != nil {
			return err
		}
		return tx.Send(sent...)
	})
	view(t, s, func(tx *store.Tx) error {
		n, err := tx.CountInProgress(w.Host.ID)
		if want := map[string]int{"": 1, "cuda": 2}; !maps.Equal(n, want) {
			t.Errorf("got %v, want %v", n, want)
		}
		if n, err := tx.CountInProgress(w.Host.ID + 1); len(n) != 0 || err != nil {
			t.Errorf("of another host: %v, %v", n, err)
		}
		if err != nil {
			return err
		}
		votes, err := tx.VersionVotes()
		for i, class := range []string{"", "cuda", "cuda"} {
			if len(votes) != 3 || votes[i].PlanClass != class {
				t.Errorf("votes %+v", votes)
				break
			}
		}
		return err
	})
}
