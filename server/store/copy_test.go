package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/starling-grid/starling/internal/testpg"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/store/storetest"
)

// filled makes a database with some of everything that is numbered, and texts that
// PostgreSQL does not take.
func filled(t *testing.T, where string) {
	t.Helper()
	s := store.OpenFor(t, where)
	update(t, s, func(tx *store.Tx) error {
		for _, query := range []string{
			`INSERT INTO platform (create_time, name, user_friendly_name) VALUES (1, 'p', 'P')`,
			`INSERT INTO app (create_time, name, user_friendly_name, validator, assimilator, weight) VALUES (1, 'a', 'A', 'trivial', 'copy', 0.1)`,
			`INSERT INTO app_version (create_time, appid, version_num, platformid, xml_doc) VALUES (1, 1, 100, 1, '')`,
			`INSERT INTO "user" (create_time, email_addr, name, authenticator, cross_project_id) VALUES (1, 'a@example.org', 'é ' || char(10) || '"', '0123456789abcdef0123456789abcdef', CAST(X'6100FF' AS TEXT))`,
			`INSERT INTO audit (create_time, actor, via, action, detail, error) VALUES (1, 'ada', 'command', 'work cancel', '1', '')`,
			`INSERT INTO project (identity) VALUES ('this one')`,
		} {
			if err := store.Exec(tx, query); err != nil {
				return err
			}
		}
		for _, name := range []string{"one", "two", "three"} {
			id, err := storetest.InsertWorkunit(tx, store.Workunit{
				CreateTime: time.Unix(1000, 0), AppID: 1, Name: name, RscFpopsEst: 1e300 / 3, RscFpopsBound: 1e300, RscMemoryBound: 1, RscDiskBound: 1,
				TransitionTime: store.Never, DelayBound: time.Hour, MinQuorum: 1, TargetNResults: 1, MaxErrorResults: 1,
				MaxTotalResults: 1, MaxSuccessResults: 1,
			})
			if err != nil {
				return err
			}
			if name == "three" { // the last number is not given again
				if err := tx.Purge(id); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// next returns the number of a workunit that is made now.
func next(t *testing.T, where string) (id int64) {
	t.Helper()
	s := store.OpenFor(t, where)
	update(t, s, func(tx *store.Tx) (err error) {
		id, err = storetest.InsertWorkunit(tx, store.Workunit{
			CreateTime: time.Unix(1000, 0), AppID: 1, Name: "next", RscFpopsEst: 1, RscFpopsBound: 1, RscMemoryBound: 1, RscDiskBound: 1,
			TransitionTime: store.Never, DelayBound: time.Hour, MinQuorum: 1, TargetNResults: 1, MaxErrorResults: 1,
			MaxTotalResults: 1, MaxSuccessResults: 1,
		})
		return err
	})
	return id
}

// A database is the same after it was copied from kind to kind, and numbers on where the
// first one was.
func TestCopy(t *testing.T) {
	pg := testpg.Start(t)
	dir := t.TempDir()
	first := filepath.Join(dir, "first.db")
	filled(t, first)
	want, err := store.TakeCensus(t.Context(), first)
	if err != nil || want["workunit"].Rows != 2 || want["user"].Rows != 1 || want["project"].Rows != 1 {
		t.Fatalf("%v, %v", want, err)
	}
	a, b := pg.Database(t), pg.Database(t)
	last := filepath.Join(dir, "last.db")
	for _, step := range []struct{ from, to string }{{first, a}, {a, b}, {b, last}} {
		got, err := store.Copy(t.Context(), step.from, step.to)
		must(t, err)
		if d := want.Differences(got); len(d) > 0 {
			t.Errorf("the copy differs in %v", d)
		}
		if _, err := store.Copy(t.Context(), step.from, step.to); !errors.Is(err, store.ErrNotEmpty) {
			t.Errorf("copied onto another: %v", err)
		}
	}
	snapshot := filepath.Join(dir, "snapshot.db")
	if got, err := store.Snapshot(t.Context(), first, snapshot); err != nil || len(want.Differences(got)) > 0 {
		t.Errorf("the snapshot differs in %v, %v", want.Differences(got), err)
	}
	for _, where := range []string{a, last, snapshot} {
		if id := next(t, where); id != 4 {
			t.Errorf("the next workunit is %d, want 4: numbers are given once", id)
		}
	}
	if got, err := store.TakeCensus(t.Context(), last); err != nil || !slices.Equal(want.Differences(got), []string{"made_workunit", "workunit"}) {
		t.Errorf("one workunit more is a difference in %v, %v", want.Differences(got), err)
	}
	for _, file := range []string{last, snapshot} {
		if st, err := os.Stat(file); err != nil || st.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v; want it for its owner only", file, st.Mode(), err)
		}
	}
}

// Files are not deleted while a copy is made, and for a limited time if the copying process died.
func TestDeletionIsHeld(t *testing.T) {
	s := store.OpenFor(t, filepath.Join(t.TempDir(), "project.db"))
	update(t, s, func(tx *store.Tx) error {
		held := func(at int64, want bool) {
			t.Helper()
			if got, err := tx.DeletionHeld(time.Unix(at, 0)); err != nil || got != want {
				t.Errorf("at %d: held is %t, %v; want %t", at, got, err, want)
			}
		}
		held(0, false)
		for holder, until := range map[string]int64{"a": 100, "b": 200} {
			if err := tx.HoldDeletion(holder, time.Unix(until, 0)); err != nil {
				return err
			}
		}
		held(150, true)
		held(200, false)
		if err := tx.HoldDeletion("a", time.Unix(300, 0)); err != nil {
			return err
		}
		held(250, true)
		if err := tx.ReleaseDeletion("a", time.Unix(150, 0)); err != nil {
			return err
		}
		held(250, false)
		held(150, true)
		if err := tx.ReleaseDeletion("c", time.Unix(200, 0)); err != nil {
			return err
		}
		held(150, false)
		return nil
	})
}
