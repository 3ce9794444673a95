package store_test

import (
	"testing"

	"github.com/starling-grid/starling/server/store"
)

func TestAnonymousVersions(t *testing.T) {
	seen := make(map[int64]bool)
	for _, app := range []int64{1, 2, 999_999_999} {
		for _, kind := range []string{"", "NVIDIA", "ATI", "intel_gpu", "apple_gpu"} {
			id := store.AnonymousVersion(app, kind)
			gotApp, gotKind, ok := store.Anonymous(id)
			if id >= 0 || seen[id] || !ok || gotApp != app || gotKind != kind {
				t.Errorf("application %d on %q has number %d, which stands for %d on %q, %v", app, kind, id, gotApp, gotKind, ok)
			}
			seen[id] = true
		}
	}
	// BOINC has app·1000000 + 2 for the CPUs in host_app_version.
	if id := store.AnonymousVersion(3, ""); id != -3_000_002 {
		t.Errorf("number %d", id)
	}
	if id := store.AnonymousVersion(3, "fake"); id != 0 {
		t.Errorf("a kind without a number has %d", id)
	}
	for _, id := range []int64{0, 7} {
		if _, _, ok := store.Anonymous(id); ok {
			t.Errorf("%d stands for a volunteer's own programs", id)
		}
	}
	if kind, ok := store.AnonymousKind(store.AnonymousClass("ATI")); kind != "ATI" || !ok {
		t.Errorf("class of kind %q, %v", kind, ok)
	}
	for _, class := range []string{"", "ATI", "anonymous ATI"} {
		if _, ok := store.AnonymousKind(class); ok {
			t.Errorf("plan class %q", class)
		}
	}
}
