package storetest

import (
	"maps"
	"testing"

	"github.com/starling-grid/starling/server/store"
)

// Results that volunteers' own programs compute are counted by kind of processor.
func anonymous(t *testing.T, s *store.Store) {
	w := Fill(t, s)
	_, rs := Add(t, s, w.Workunit("own"), 4)
	Update(t, s, func(tx *store.Tx) error {
		other, err := tx.InsertApp(store.App{Name: "other", CreateTime: T0})
		if err != nil {
			return err
		}
		sent := w.sent(rs)
		sent[0].AppVersionID = store.AnonymousVersion(w.App.ID, "")
		sent[1].AppVersionID = store.AnonymousVersion(other, "")
		sent[2].AppVersionID = store.AnonymousVersion(w.App.ID, "NVIDIA")
		if err := tx.SaveHostAppVersion(store.HostAppVersion{HostID: w.Host.ID, AppVersionID: sent[0].AppVersionID, NJobsToday: 1}); err != nil {
			return err
		}
		return tx.Send(sent...)
	})
	view(t, s, func(tx *store.View) error {
		n, err := inProgressOf(tx, w.Host.ID, []int64{w.Host.ID})
		if want := map[string]int{"": 1, store.AnonymousClass(""): 2, store.AnonymousClass("NVIDIA"): 1}; !maps.Equal(n, want) {
			t.Errorf("got %v, want %v", n, want)
		}
		if err != nil {
			return err
		}
		h, err := tx.HostAppVersion(w.Host.ID, store.AnonymousVersion(w.App.ID, ""))
		if h.NJobsToday != 1 {
			t.Errorf("it has earned %+v", h)
		}
		return err
	})
}
