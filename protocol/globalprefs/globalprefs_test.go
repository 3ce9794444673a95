package globalprefs_test

import (
	"testing"

	"github.com/starling-grid/starling/protocol/globalprefs"
)

func TestPreferencesMakeSense(t *testing.T) {
	seen := make(map[string]bool)
	for _, k := range globalprefs.All() {
		if seen[k.Name] {
			t.Errorf("%s is listed twice", k.Name)
		}
		seen[k.Name] = true
		if !(k.Least <= k.Default && k.Default <= k.Most && k.Least < k.Most) {
			t.Errorf("%s: default %v, want one from %v to %v", k.Name, k.Default, k.Least, k.Most)
		}
		if k != globalprefs.Of(k.Name) {
			t.Errorf("%s is another one by its name", k.Name)
		}
	}
}
