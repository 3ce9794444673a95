package storetest

import (
	"testing"

	"github.com/starling-grid/starling/server/store"
)

// energies checks that the energy of a result is stored, and that the sums of applications are shown with
// their work.
func energies(t *testing.T, s *store.Store) {
	w := Fill(t, s)
	other := w.App
	other.Name = "lower"
	Update(t, s, func(tx *store.Tx) (err error) {
		other.ID, err = tx.InsertApp(other)
		return err
	})
	_, rs := Add(t, s, w.Workunit("a"), 1)
	over := rs[0]
	over.ServerState, over.Outcome, over.EnergyWh = store.Over, store.Success, 1.25
	Update(t, s, func(tx *store.Tx) error { return tx.SaveResult(rs[0], over) })
	view(t, s, func(tx *store.View) error {
		if got, err := tx.Result(over.ID); err != nil || got.EnergyWh != 1.25 {
			t.Errorf("got %v Wh, %v", got.EnergyWh, err)
		}
		if got, err := tx.CreditedEnergies(); err != nil || len(got) != 0 {
			t.Errorf("before credit: %v, %v", got, err)
		}
		return nil
	})
	var sum store.CreditedEnergy
	sum = sum.Plus(1.25, 3).Plus(0.5, 3)
	for range 2 {
		Update(t, s, func(tx *store.Tx) error { return tx.AddCreditedEnergy(w.App.ID, sum) })
	}
	want := store.CreditedEnergy{Results: 4, Wh: 3.5, Credit: 12}
	view(t, s, func(tx *store.View) error {
		uses, err := tx.AppUses()
		st, also := tx.Status(T0.Unix())
		if err != nil || also != nil || len(st.ByApp) != 2 {
			t.Fatalf("%+v, %v, %+v, %v", uses, err, st, also)
		}
		for _, a := range st.ByApp {
			want := want
			if a.ID == other.ID {
				want = store.CreditedEnergy{}
			}
			if got := uses[a.ID].CreditedEnergy; got != want || a.CreditedEnergy != want {
				t.Errorf("%s: %+v and %+v, want %+v", a.Name, got, a.CreditedEnergy, want)
			}
		}
		return nil
	})
}
