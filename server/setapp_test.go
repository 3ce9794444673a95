package server_test

import (
	"testing"

	"github.com/starling-grid/starling/server/operate"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/store/storetest"
)

func TestSetApp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.must(operate.AddApp(t.Context(), w.p, operate.NewApp{Name: "a", Validator: "trivial", Assimilator: "copy", TargetNResults: 3}, w.now()))
	w.must(operate.SetApp(t.Context(), w.p, "a", func(a *operate.NewApp) { a.Validator, a.HomogeneousRedundancy, a.Credit = "bitwise", 1, "runtime" }, w.now()))
	if err := operate.SetApp(t.Context(), w.p, "a", func(a *operate.NewApp) { a.Assimilator = "nobody" }, w.now()); err == nil {
		t.Error("an assimilator that is none was taken")
	}
	if err := operate.SetApp(t.Context(), w.p, "a", func(a *operate.NewApp) { a.Credit = "much" }, w.now()); err == nil {
		t.Error("a way to grant credit that is none was taken")
	}
	if a := storetest.Get(t, w.p.Store, (*store.View).AppByName, "a"); a.Validator != "bitwise" || a.Assimilator != "copy" || a.TargetNResults != 3 || a.HomogeneousRedundancy != 1 || a.Credit != "runtime" {
		t.Errorf("got %+v", a)
	}
}
