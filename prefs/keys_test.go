package prefs_test

import (
	"slices"
	"testing"

	"github.com/starling-grid/starling/prefs"
	"github.com/starling-grid/starling/protocol/globalprefs"
)

// The agent heeds every preference that there is.
func TestEveryPreferenceIsHeeded(t *testing.T) {
	var heeded, all []globalprefs.Key
	for _, k := range prefs.Keys() {
		heeded = append(heeded, k.Key)
		p := prefs.Default()
		if v := k.Get(&p); v != k.Default {
			t.Errorf("%s is %v by default, want %v", k.Name, v, k.Default)
		}
	}
	all = append(all, globalprefs.All()...)
	for _, list := range [][]globalprefs.Key{heeded, all} {
		slices.SortFunc(list, func(a, b globalprefs.Key) int {
			if a.Name < b.Name {
				return -1
			}
			return 1
		})
	}
	if !slices.Equal(heeded, all) {
		t.Errorf("the agent heeds\n%v, there are\n%v", heeded, all)
	}
}
