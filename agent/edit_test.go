package agent_test

import (
	"sync"
	"testing"

	"github.com/starling-grid/starling/prefs"
	"github.com/starling-grid/starling/state"
)

// Preferences that are set at the same time are all set.
func TestPreferencesSetTogether(t *testing.T) {
	t.Parallel()
	w := newWorld(t, demoURL, withMaster(t, demoURL, answer{code: 404}), func(*state.DB, *state.Tx) {})
	w.run(func(t *testing.T) {
		var all sync.WaitGroup
		for _, k := range prefs.Keys() {
			all.Go(func() {
				if err := w.a.SetPref(t.Context(), k.Name, &k.Least); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		l, err := w.a.PrefsOverride(t.Context())
		if err != nil || len(l.Values) != len(prefs.Keys()) {
			t.Errorf("%d of %d preferences are set, %v", len(l.Values), len(prefs.Keys()), err)
		}
	})
}
