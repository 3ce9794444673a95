package storetest

import (
	"maps"
	"testing"

	"github.com/starling-grid/starling/server/store"
)

// inProgress checks that a host's results in progress are counted by plan class, including the
// results of deprecated versions.
func inProgress(t *testing.T, s *store.Store) {
	w := Fill(t, s)
	_, rs := Add(t, s, w.Workunit("counted"), 4)
	Update(t, s, func(tx *store.Tx) error {
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
	view(t, s, func(tx *store.View) error {
		for _, hosts := range [][]int64{{w.Host.ID}, {w.Host.ID, w.Host.ID + 1}} {
			n, err := inProgressOf(tx, w.Host.ID, hosts)
			if want := map[string]int{"": 1, "cuda": 2}; err != nil || !maps.Equal(n, want) {
				t.Errorf("got %v, want %v; %v", n, want, err)
			}
		}
		if n, err := inProgressOf(tx, w.Host.ID+1, []int64{w.Host.ID + 1}); len(n) != 0 || err != nil {
			t.Errorf("of another host: %v, %v", n, err)
		}
		uses, err := tx.VersionUses()
		if err != nil {
			return err
		}
		last := store.VersionUse{InProgress: 1, Total: 1, Hosts: 1}
		if len(uses) != 3 {
			t.Errorf("uses %+v", uses)
		}
		for id, use := range uses {
			if use != last {
				t.Errorf("use %+v of version %d, want %+v", use, id, last)
			}
			ids, err := tx.InProgressWith(id, 0, 9)
			if err != nil || len(ids) != 1 {
				t.Errorf("in progress with version %d: %v, %v", id, ids, err)
				continue
			}
			if ids, err := tx.InProgressWith(id, ids[0], 9); err != nil || len(ids) != 0 {
				t.Errorf("after it: %v, %v", ids, err)
			}
		}
		apps, err := tx.AppUses()
		if want := (store.AppUse{Versions: 2, Workunits: 1, Unfinished: 1, Unsent: 1, InProgress: 3}); err != nil || apps[w.App.ID] != want {
			t.Errorf("the application has %+v, %v; want %+v", apps, err, want)
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
	removeVersion(t, s)
}

// inProgressOf counts the results of a host, which is one of several that are asked for.
func inProgressOf(tx *store.View, host int64, hosts []int64) (map[string]int, error) {
	n := make(map[string]int)
	return n, tx.Ask(store.CountInProgress(hosts, func(c store.Count) {
		if c.HostID == host {
			n[c.PlanClass] += c.N
		}
	}))
}

// removeVersion takes versions out of the database that are deprecated, and no others.
func removeVersion(t *testing.T, s *store.Store) {
	var list []store.AppVersion
	look := func(tx *store.View) (err error) {
		list, err = tx.AllAppVersions()
		return err
	}
	view(t, s, look)
	live, gone := list[0], list[2]
	if classes := Look(t, s, (*store.View).PlanClasses); len(classes) != 2 || classes[list[1].ID] != "cuda" || classes[gone.ID] != "cuda" {
		t.Errorf("plan classes %v of %+v", classes, list)
	}
	for _, keep := range []bool{true, false} {
		lost(t, s, func(tx *store.Tx) error { return tx.RemoveVersion(live.ID, live.XMLDoc, keep) }, store.ErrLost)
		lost(t, s, func(tx *store.Tx) error { return tx.RemoveVersion(gone.ID, "another", keep) }, store.ErrLost)
	}
	Update(t, s, func(tx *store.Tx) error { return tx.RemoveVersion(gone.ID, gone.XMLDoc, true) })
	if view(t, s, look); len(list) != 3 {
		t.Errorf("%d versions, want 3: one is to be kept", len(list))
	}
	Update(t, s, func(tx *store.Tx) error { return tx.RemoveVersion(gone.ID, "", false) })
	if view(t, s, look); len(list) != 2 {
		t.Errorf("%d versions, want 2", len(list))
	}
}
