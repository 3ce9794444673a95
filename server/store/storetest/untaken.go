package storetest

import (
	"math"
	"testing"
	"time"

	"github.com/starling-grid/starling/server/match"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/unsendable"
)

// untakenWork checks that work for which every active host is too small is found, even if it is
// only some results of a kind.
func untakenWork(t *testing.T, s *store.Store) {
	w := Fill(t, s)
	add := func(name string, memory float64) {
		wu := w.Workunit(name)
		wu.RscMemoryBound = memory
		Add(t, s, wu, 1)
	}
	add("small", 5e8)
	add("fits", 9e9)
	add("too large", 15e9) // of the kind of the one before
	add("far too large", 99e9)
	Update(t, s, func(tx *store.Tx) error {
		_, err := AddVersion(tx, "linux", store.AppVersion{AppID: w.App.ID, VersionNum: 100, XMLDoc: "-"})
		return err
	})
	change := func(*store.Host) {}
	host := func(at time.Time, memory float64, excluded bool) {
		Update(t, s, func(tx *store.Tx) error {
			id, err := tx.InsertHost(store.Host{CreateTime: T0, UserID: w.User.ID})
			if err != nil {
				return err
			}
			return store.Change(tx.Host, id, tx.UpdateHost, func(x *store.Host) {
				x.RPCTime, x.Platforms, x.UsableMemory, x.UsableDisk, x.MemBytes = at, "other linux", memory, math.Inf(1), 500e9
				if excluded {
					x.MaxResultsDay = -1
				}
				change(x)
			})
		})
	}
	look := func() (found []unsendable.Finding) {
		view(t, s, func(tx *store.View) (err error) {
			found, err = unsendable.Look(tx, match.Once{OneResultPerHostPerWU: true}, T0.Add(time.Hour))
			return err
		})
		return found
	}
	host(T0.Add(-unsendable.Window), 500e9, false) // too long ago to count as active
	if got := look(); len(got) != 1 || got[0].Cause != unsendable.NoHost || got[0].Results != 4 || got[0].App != "upper" || !got[0].Since.Equal(T0) {
		t.Errorf("without hosts: got %+v", got)
	}
	host(T0, 500e9, true)
	host(T0, 10e9, false)
	if got := look(); len(got) != 1 || got[0].Cause != unsendable.Memory || got[0].Results != 2 || got[0].Need != 15e9 || got[0].Most != 10e9 {
		t.Errorf("got %+v", got)
	}
	host(T0, math.Inf(1), false) // memory not reported
	if got := look(); len(got) != 0 {
		t.Errorf("got %+v, want nothing", got)
	}
	redundant := store.App{CreateTime: T0, Name: "redundant", Validator: "trivial", Assimilator: "copy", HomogeneousRedundancy: 2}
	Update(t, s, func(tx *store.Tx) (err error) {
		if redundant.ID, err = tx.InsertApp(redundant); err != nil {
			return err
		}
		_, err = AddVersion(tx, "linux", store.AppVersion{AppID: redundant.ID, VersionNum: 100, PlanClass: "mt", XMLDoc: "-"})
		return err
	})
	wu := w.Workunit("redundant")
	wu.AppID = redundant.ID
	wu, _ = Add(t, s, wu, 1)
	want := func(cause unsendable.Cause) {
		t.Helper()
		if got := look(); cause == "" && len(got) > 0 || cause != "" && (len(got) != 1 || got[0].Cause != cause || got[0].App != "redundant") {
			t.Errorf("got %+v, want %q", got, cause)
		}
	}
	want(unsendable.HRClass) // hosts have not reported their class
	change = func(h *store.Host) { h.OSName, h.Vendor, h.Unsuited = "Linux", "GenuineIntel", "avx2 mt" }
	host(T0, 10e9, false)
	want(unsendable.HRClass)
	change = func(h *store.Host) { h.OSName, h.Vendor, h.Unsuited = "Linux", "GenuineIntel", "avx2" }
	host(T0, 10e9, false)
	want("")
	committed := wu
	committed.HRClass = 385 // Windows
	Update(t, s, func(tx *store.Tx) error { return tx.SaveWorkunit(wu, committed) })
	want(unsendable.HRClass)
}
