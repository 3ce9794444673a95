package state_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/starling-grid/starling/state"
)

// TestOrder checks that loops visit the existing records in the order of their keys, whatever was
// put, deleted and rolled back before.
func TestOrder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	projects := []string{"http://p.example/", "http://p.example/x/", "http://q.example/"}
	rapid.Check(t, func(t *rapid.T) {
		db, err := state.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = db.Close() }()
		want := make(map[string]int)
		for k, r := range db.Results.All() {
			want[k] = r.ExitStatus
		}
		check := func() {
			keys := []string{}
			for k, r := range db.Results.All() {
				keys = append(keys, k)
				if r.ExitStatus != want[k] {
					t.Fatalf("%q is %d, want %d", k, r.ExitStatus, want[k])
				}
			}
			if all := slices.Sorted(maps.Keys(want)); !slices.Equal(keys, all) {
				t.Fatalf("all are %q, want %q", keys, all)
			}
			for _, p := range projects {
				of := []string{}
				for k := range db.Results.Of(p) {
					of = append(of, k)
				}
				all := slices.DeleteFunc(keys, func(k string) bool { return !strings.HasPrefix(k, p+"\x00") })
				if keys = slices.Sorted(maps.Keys(want)); !slices.Equal(of, all) {
					t.Fatalf("of %s are %q, want %q", p, of, all)
				}
			}
		}
		for range rapid.IntRange(1, 6).Draw(t, "transactions") {
			before := maps.Clone(want)
			fails := rapid.IntRange(0, 4).Draw(t, "fails") == 0
			if fails {
				if err := db.Close(); err != nil {
					t.Fatal(err)
				}
			}
			err := db.Update(func(tx *state.Tx) {
				for range rapid.IntRange(1, 8).Draw(t, "changes") {
					key := state.Key(rapid.SampledFrom(projects).Draw(t, "project"), fmt.Sprint(rapid.IntRange(0, 5).Draw(t, "name")))
					if rapid.Bool().Draw(t, "delete") {
						db.Results.Delete(tx, key)
						delete(want, key)
					} else {
						want[key]++
						db.Results.Put(tx, key, state.Result{ExitStatus: want[key]})
					}
					if rapid.Bool().Draw(t, "look") {
						check()
					}
				}
			})
			if fails != (err != nil) {
				t.Fatalf("saved: %v", err)
			}
			if fails {
				want = before
				check()
				return // nothing can be written anymore
			}
			check()
		}
	})
}
