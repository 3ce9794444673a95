package store_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/internal/testpg"
	"github.com/starling-grid/starling/server/speed"
	"github.com/starling-grid/starling/server/store"
)

// A project of the first version keeps its work, and the purger sees the age of that work.
func TestAnOldDatabaseIsBroughtUpToDate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "project.db")
	text, err := os.ReadFile("migrations/001_first_light.sql")
	must(t, err)
	db, err := sql.Open("sqlite", path)
	must(t, err)
	_, schema, _ := strings.Cut(string(text), "-- +goose Up")
	for _, query := range []string{
		schema,
		`CREATE TABLE goose_db_version (id INTEGER PRIMARY KEY AUTOINCREMENT, version_id INTEGER NOT NULL,
		 is_applied INTEGER NOT NULL, tstamp TIMESTAMP DEFAULT (datetime('now')))`,
		`INSERT INTO goose_db_version (version_id, is_applied) VALUES (0, 1), (1, 1)`,
		`INSERT INTO app (create_time, name, user_friendly_name, validator, assimilator) VALUES (1, 'a', 'A', 'trivial', 'copy')`,
		`INSERT INTO workunit (create_time, appid, name, xml_doc, rsc_fpops_est, rsc_fpops_bound, rsc_memory_bound,
		 rsc_disk_bound, transition_time, delay_bound, error_mask, file_delete_state, assimilate_state, min_quorum,
		 target_nresults, max_error_results, max_total_results, max_success_results, result_template_file)
		 VALUES (1000, 1, 'wu', '', 1, 1, 1, 1, 253402300799, 1, 16, 2, 2, 1, 1, 1, 1, 1, '')`,
		`INSERT INTO result (create_time, workunitid, appid, name, server_state, outcome, xml_doc_in, received_time)
		 VALUES (1000, 1, 1, 'wu_0', 5, 3, '', 2000)`,
	} {
		if _, err := db.ExecContext(t.Context(), query); err != nil {
			t.Fatal(err)
		}
	}
	must(t, db.Close())
	s := store.OpenFor(t, path)
	view(t, s, func(tx *store.View) error {
		for at, want := range map[int64]int{1999: 0, 2000: 1} {
			if ids, err := tx.Purgeable(time.Unix(at, 0), 9); err != nil || len(ids) != want {
				t.Errorf("at %d: %v, %v; want %d", at, ids, err, want)
			}
		}
		st, err := tx.Status(3000)
		if err != nil || st.Workunits.Total != 1 || st.Workunits.Error != 1 || st.Workunits.FilesDeleted != 1 || st.Results.ByOutcome["client_error"] != 1 {
			t.Errorf("counts: %+v, %v", st, err)
		}
		a, err := tx.AppByName("a")
		if a.Trickle != "" || a.TargetNResults != 0 {
			t.Errorf("got %+v", a)
		}
		return err
	})
}

// Records of hosts that are older than measured run times are kept, and learn from then on. Credit
// is granted as before.
func TestADatabaseWithoutSpeedsIsBroughtUpToDate(t *testing.T) {
	t.Run("SQLite", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "project.db")
		withoutSpeeds(t, path, "sqlite")
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		url := testpg.Start(t).Database(t)
		withoutSpeeds(t, url, "pgx")
	})
}

func withoutSpeeds(t *testing.T, where, driver string) {
	t.Helper()
	must(t, store.MigrateTo(t.Context(), where, "018"))
	db, err := sql.Open(driver, where)
	must(t, err)
	for _, query := range []string{
		`INSERT INTO host_app_version VALUES (7, 3, 100, 2, 11)`,
		`INSERT INTO app (create_time, name, user_friendly_name, validator, assimilator) VALUES (1, 'a', 'A', 'trivial', 'copy')`,
		`INSERT INTO workunit (create_time, appid, name, xml_doc, rsc_fpops_est, rsc_fpops_bound, rsc_memory_bound,
		 rsc_disk_bound, transition_time, delay_bound, min_quorum, target_nresults, max_error_results, max_total_results,
		 max_success_results, result_template_file) VALUES (1000, 1, 'wu', '', 1, 1, 1, 1, 253402300799, 1, 1, 1, 1, 1, 1, '')`,
	} {
		if _, err := db.ExecContext(t.Context(), query); err != nil {
			t.Fatal(err)
		}
	}
	must(t, db.Close())
	s := store.OpenFor(t, where)
	want := store.HostAppVersion{HostID: 7, AppVersionID: 3, MaxJobsPerDay: 100, NJobsToday: 2, ConsecutiveValid: 11}
	update(t, s, func(tx *store.Tx) error {
		if got, err := tx.HostAppVersion(7, 3); err != nil || got != want {
			t.Errorf("got %+v, %v; want %+v", got, err, want)
		}
		want.Elapsed, want.Vote = speed.Average{N: 1, Mean: 1e-9}, 100
		return tx.SaveHostAppVersion(want)
	})
	view(t, s, func(tx *store.View) error {
		if got, err := tx.HostAppVersion(7, 3); err != nil || got != want {
			t.Errorf("got %+v, %v; want %+v", got, err, want)
		}
		if a, err := tx.AppByName("a"); err != nil || a.Credit != "" {
			t.Errorf("app %+v, %v", a, err)
		}
		if wu, err := tx.WorkunitByName("wu"); err != nil || wu.Credit != 0 {
			t.Errorf("workunit %+v, %v", wu, err)
		}
		return nil
	})
}

// Work that was submitted with a token before tokens had limits belongs to it afterwards, and its computing
// time counts.
func TestOlderWorkOfTokensCounts(t *testing.T) {
	t.Run("SQLite", func(t *testing.T) {
		withoutLimits(t, filepath.Join(t.TempDir(), "project.db"), "sqlite")
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		withoutLimits(t, testpg.Start(t).Database(t), "pgx")
	})
}

func withoutLimits(t *testing.T, where, driver string) {
	t.Helper()
	must(t, store.MigrateTo(t.Context(), where, "070"))
	db, err := sql.Open(driver, where)
	must(t, err)
	workunit := func(name, batch string) string {
		return `INSERT INTO workunit (create_time, appid, name, xml_doc, batch, rsc_fpops_est, rsc_fpops_bound, rsc_memory_bound,
		 rsc_disk_bound, transition_time, delay_bound, min_quorum, target_nresults, max_error_results, max_total_results,
		 max_success_results, result_template_file) VALUES (1000, 1, '` + name + `', '', ` + batch + `, 100, 100, 1, 1, 253402300799, 1, 1, 1, 1, 1, 1, '')`
	}
	for _, query := range []string{
		`INSERT INTO app (create_time, name, user_friendly_name, validator, assimilator) VALUES (1, 'a', 'A', 'trivial', 'copy')`,
		`INSERT INTO token (create_time, name, hash) VALUES (1, 'other', 'x'), (1, 'lab', 'y')`,
		`INSERT INTO api_batch (create_time, tokenid, name, appid, expected) VALUES (1, 2, 'b', 1, 2)`,
		workunit("api1_0", "1000000001"), workunit("wu", "7"),
		`INSERT INTO result (create_time, workunitid, appid, name, server_state, outcome, xml_doc_in, received_time, batch, file_delete_state, cpu_time, elapsed_time, flops_estimate)
		 VALUES (1000, 1, 1, 'api1_0_0', 5, 3, '', 864000, 1000000001, 2, 30, 40, 2), (1000, 2, 1, 'wu_0', 5, 3, '', 864000, 7, 2, 30, 40, 2)`,
		`INSERT INTO result (create_time, workunitid, appid, name, server_state, xml_doc_in, batch, kind)
		 VALUES (1000, 1, 1, 'api1_0_1', 2, '', 1000000001, 5), (1000, 2, 1, 'wu_1', 2, '', 7, 6)`,
	} {
		if _, err := db.ExecContext(t.Context(), query); err != nil {
			t.Fatal(err)
		}
	}
	must(t, db.Close())
	s := store.OpenFor(t, where)
	update(t, s, func(tx *store.Tx) error {
		if days, err := tx.TokenDays(0, time.Unix(864000, 0)); err != nil || len(days) != 1 || days[0] != (store.TokenDay{TokenID: 2, Day: 10, CPUTime: 30, ElapsedTime: 40, ExpectedTime: 50}) {
			t.Errorf("days %+v, %v", days, err)
		}
		if lab, err := tx.TokenByName("lab"); err != nil || lab.Weight != 1 || lab.MaxBytes != 0 || lab.MaxCPUTime != 0 {
			t.Errorf("token %+v, %v", lab, err)
		}
		wu, err := tx.WorkunitByName("api1_0")
		if err != nil || wu.TokenID != 2 {
			t.Errorf("workunit %+v, %v", wu, err)
		}
		if n, err := tx.SortUnsent(9); err != nil || n != 1 {
			t.Errorf("%d unsent results were without kind, %v", n, err)
		}
		list, err := tx.Unsent(wu.Kind(), store.First, 9, store.Slice{})
		if err != nil || len(list) != 1 || list[0].TokenID != 2 {
			t.Errorf("unsent %+v, %v", list, err)
		}
		return err
	})
}
