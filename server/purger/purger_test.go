package purger_test

import (
	"bufio"
	"compress/gzip"
	"database/sql"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/server/blob"
	"github.com/starling-grid/starling/server/purger"
	"github.com/starling-grid/starling/server/setting"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/store/storetest"
)

type world struct {
	files *blob.Dir
	storetest.World
	t    *testing.T
	p    *purger.Purger
	path string // of the database
	now  time.Time
}

func newWorld(t *testing.T) *world {
	t.Helper()
	dir := t.TempDir()
	st := storetest.Open(t, dir)
	files, err := blob.Open(filepath.Join(dir, "upload"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = files.Close() })
	return &world{World: storetest.Fill(t, st), t: t, files: files, path: filepath.Join(dir, "project.db"), now: storetest.T0, p: &purger.Purger{
		Store: st, Log: slog.New(slog.DiscardHandler), Dir: filepath.Join(dir, "archive"), Upload: files, Settings: purger.Settings{PurgeAfter: 2},
	}}
}

func (w *world) update(fn func(tx *store.Tx) error) {
	w.t.Helper()
	if err := w.p.Store.Update(w.t.Context(), fn); err != nil {
		w.t.Fatal(err)
	}
}

// finished adds a workunit that was given up and whose files are gone.
func (w *world) finished(name string, change ...func(wu *store.Workunit, r *store.Result)) {
	w.t.Helper()
	wu, results := storetest.Add(w.t, w.p.Store, w.Workunit(name), 1)
	w.update(func(tx *store.Tx) error {
		after, r := wu, results[0]
		after.ErrorMask, after.AssimilateState, after.FileDeleteState = store.ErrorCancelled, store.AssimilateDone, store.DeleteDone
		after.TransitionTime = store.Never
		r.ServerState, r.Outcome = store.Over, store.DidntNeed
		for _, c := range change {
			c(&after, &r)
		}
		if err := storetest.SaveResult(tx, results[0], r); err != nil {
			return err
		}
		tx.SetCause(w.now, "test", "")
		return storetest.SaveWorkunit(tx, wu, after)
	})
}

func (w *world) pass(want int) {
	w.t.Helper()
	if n, err := w.p.Pass(w.t.Context(), w.now); n != want || err != nil {
		w.t.Errorf("purged %d, %v; want %d", n, err, want)
	}
}

func (w *world) has(name string) bool {
	w.t.Helper()
	found := true
	w.update(func(tx *store.Tx) error {
		_, err := tx.WorkunitByName(name)
		if errors.Is(err, store.ErrNotFound) {
			found, err = false, nil
		}
		return err
	})
	return found
}

func (w *world) archive(name string) (lines []store.Record) {
	w.t.Helper()
	f, err := os.Open(filepath.Join(w.p.Dir, name))
	if err != nil {
		w.t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		w.t.Fatal(err)
	}
	s := bufio.NewScanner(z)
	for s.Scan() {
		var rec store.Record
		if err := json.Unmarshal(s.Bytes(), &rec); err != nil {
			w.t.Fatal(err)
		}
		lines = append(lines, rec)
	}
	if s.Err() != nil {
		w.t.Fatal(s.Err())
	}
	return lines
}

func TestPurge(t *testing.T) {
	w := newWorld(t)
	w.finished("a")
	w.finished("b", func(_ *store.Workunit, r *store.Result) { r.FileDeleteState = store.DeleteError })
	w.finished("c", func(wu *store.Workunit, _ *store.Result) { wu.TransitionTime = storetest.T0.Add(time.Hour) })
	w.finished("d", func(wu *store.Workunit, _ *store.Result) { wu.FileDeleteState = store.DeleteError })
	w.finished("e")
	storetest.Add(t, w.p.Store, w.Workunit("f"), 1)
	w.now = w.now.Add(48*time.Hour - time.Second)
	w.pass(0)
	w.now = w.now.Add(time.Second)
	w.pass(2)
	for name, want := range map[string]bool{"a": false, "b": true, "c": true, "d": true, "e": false, "f": true} {
		if w.has(name) != want {
			t.Errorf("%s is there: %v, want %v", name, !want, want)
		}
	}
	lines := w.archive("wu_1-5.jsonl.gz")
	if len(lines) != 2 || lines[0].Workunit["name"] != "a" || lines[1].Results[0]["name"] != "e_0" || lines[0].Workunit["error_mask"] != 16.0 {
		t.Errorf("archived %+v", lines)
	}
	w.pass(0)
}

// An archive is not overwritten: it may be the only copy of its content.
func TestArchivesStay(t *testing.T) {
	w := newWorld(t)
	stay := errors.New("kept for the test")
	for _, name := range []string{"a", "b", "c"} {
		w.finished(name)
	}
	w.now = w.now.Add(72 * time.Hour)
	raw, err := sql.Open("sqlite", "file:"+filepath.ToSlash(w.path)+"?_pragma=busy_timeout(60000)")
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	exec := func(query string) {
		t.Helper()
		if _, err := raw.ExecContext(t.Context(), query); err != nil {
			t.Fatal(err)
		}
	}
	exec(`CREATE TRIGGER no_purge BEFORE DELETE ON workunit BEGIN SELECT RAISE(ABORT, '` + stay.Error() + `'); END`)
	for range 3 {
		if _, err := w.p.Pass(t.Context(), w.now); err == nil || !strings.Contains(err.Error(), stay.Error()) {
			t.Fatalf("got %v, want %v", err, stay)
		}
	}
	if files, err := os.ReadDir(w.p.Dir); err != nil || len(files) != 1 {
		t.Errorf("three tries at the same left %v, %v", files, err)
	}
	exec("DROP TRIGGER no_purge")
	exec("UPDATE workunit SET priority = 7 WHERE name <> 'b'")
	exec("UPDATE workunit SET transition_time = 1 WHERE name = 'b'")
	w.pass(2)
	first, second := w.archive("wu_1-3.jsonl.gz"), w.archive("wu_1-3.2.jsonl.gz")
	if len(first) != 3 || len(second) != 2 || second[0].Workunit["priority"] != 7.0 {
		t.Errorf("archived %+v and %+v", first, second)
	}
}

func TestCreditOutlivesItsResult(t *testing.T) {
	w := newWorld(t)
	wu, results := storetest.Add(t, w.p.Store, w.Workunit("a"), 1)
	w.update(func(tx *store.Tx) error {
		r := results[0]
		r.HostID, r.UserID, r.SentTime, r.ReportDeadline = w.Host.ID, w.User.ID, w.now, w.now
		if err := tx.Send(r); err != nil {
			return err
		}
		old, err := tx.Result(r.ID)
		if err != nil {
			return err
		}
		r = old
		r.ServerState, r.Outcome, r.ValidateState, r.GrantedCredit = store.Over, store.Success, store.Valid, 7
		r.FileDeleteState, r.EnergyWh = store.DeleteDone, 2.5
		if err := storetest.SaveResult(tx, old, r); err != nil {
			return err
		}
		after := wu
		after.CanonicalResultID, after.TransitionTime = r.ID, store.Never
		after.AssimilateState, after.FileDeleteState = store.AssimilateDone, store.DeleteDone
		if err := storetest.SaveWorkunit(tx, wu, after); err != nil {
			return err
		}
		return errors.Join(tx.AddUserCredit(w.User.ID, 7, 1, w.now), tx.AddCreditedEnergy(w.App.ID, store.CreditedEnergy{Results: 1, Wh: 2.5, Credit: 7}))
	})
	w.now = w.now.Add(30 * 24 * time.Hour)
	w.pass(1)
	w.update(func(tx *store.Tx) error {
		u, err := tx.User(w.User.ID)
		if u.TotalCredit != 7 {
			t.Errorf("credit %v", u.TotalCredit)
		}
		energy, err3 := tx.CreditedEnergies()
		if want := (store.CreditedEnergy{Results: 1, Wh: 2.5, Credit: 7}); energy[w.App.ID] != want {
			t.Errorf("energy %+v, want %+v", energy, want)
		}
		wrong, err2 := tx.Doctor()
		for _, s := range wrong {
			t.Error(s)
		}
		return errors.Join(err, err2, err3)
	})
}

func TestWithoutAnAgeNothingIsPurged(t *testing.T) {
	w := newWorld(t)
	w.finished("a")
	w.p.PurgeAfter = 0
	w.now = w.now.Add(1000 * time.Hour)
	w.pass(0)
}

func TestAntiqueUploads(t *testing.T) {
	w := newWorld(t)
	storetest.Add(t, w.p.Store, w.Workunit("wu"), 1)
	for _, name := range []string{"wu_0_r5_0", "gone_0_r5_0", "gone_0_r5_1", "notes"} {
		if _, err := w.files.Put(t.Context(), name, strings.NewReader("x")); err != nil {
			t.Fatal(err)
		}
	}
	f, err := w.files.OpenPart("gone_1_r5_0")
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	left := func() (n int) {
		err := w.files.Walk(t.Context(), func(string, time.Time) error { n++; return nil })
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	w.now = time.Now().Add(47 * time.Hour)
	w.pass(0)
	if n := left(); n != 5 {
		t.Errorf("%d files, want all 5", n)
	}
	w.now = w.now.Add(2 * time.Hour)
	w.pass(0)
	if n := left(); n != 2 {
		t.Errorf("%d files, want that of the result and the one that is none", n)
	}
}

// An output that comes after its result's files were deleted is deleted as well, where
// workunits are kept for ever, too.
func TestLateUploads(t *testing.T) {
	for name, after := range map[string]setting.Days{"workunits are kept for ever": 0, "workunits are purged": 42} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.p.PurgeAfter = after
			storetest.Add(t, w.p.Store, w.Workunit("open"), 1)
			w.finished("done", func(_ *store.Workunit, r *store.Result) { r.FileDeleteState = store.DeleteDone })
			w.finished("kept")
			for _, name := range []string{"open_0_r5_0", "done_0_r5_0", "kept_0_r5_0", "unknown_0_r5_0"} {
				if _, err := w.files.Put(t.Context(), name, strings.NewReader("x")); err != nil {
					t.Fatal(err)
				}
			}
			left := func() (names []string) {
				err := w.files.Walk(t.Context(), func(name string, _ time.Time) error { names = append(names, name); return nil })
				if err != nil {
					t.Fatal(err)
				}
				return names
			}
			w.now = time.Now().Add(23 * time.Hour)
			w.pass(0)
			if got := left(); len(got) != 4 {
				t.Errorf("after 23 hours: %v, want all 4", got)
			}
			w.now = w.now.Add(25 * time.Hour)
			w.pass(0)
			if got := left(); len(got) != 3 || slices.Contains(got, "done_0_r5_0") {
				t.Errorf("after two days: %v, want all but done_0_r5_0", got)
			}
		})
	}
}

// While a copy of the project is made, nothing is purged.
func TestRowsStayWhileTheyAreHeld(t *testing.T) {
	w := newWorld(t)
	w.finished("a")
	w.now = w.now.Add(72 * time.Hour)
	w.update(func(tx *store.Tx) error { return tx.HoldDeletion("backup", w.now.Add(time.Minute)) })
	w.pass(0)
	w.now = w.now.Add(time.Minute)
	w.pass(1)
}
