package store

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/starling-grid/starling/internal/testpg"
	"github.com/starling-grid/starling/server/db"
)

// A connection plans each change once, maybe while tables are empty. Rows must be found by
// their ids all the same, one by one.
func TestManyRowsAreChangedByTheirIDs(t *testing.T) {
	url := testpg.Start(t).Database(t)
	OpenFor(t, url)
	c := connectAsStore(t, url)
	exec := func(query string) {
		t.Helper()
		if _, err := c.Exec(t.Context(), query); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
	}
	changes := Collect()
	for _, filled := range []bool{false, true} {
		if filled {
			// Enough rows to make the scan of a whole index expensive. None of the results is
			// unsent.
			exec(`INSERT INTO app (create_time, name, user_friendly_name, validator, assimilator) VALUES (1, 'a', 'a', 'x', 'x')`)
			exec(`INSERT INTO workunit (create_time, appid, name, xml_doc, rsc_fpops_est, rsc_fpops_bound, rsc_memory_bound, rsc_disk_bound, delay_bound,
				min_quorum, target_nresults, max_error_results, max_total_results, max_success_results, result_template_file, transition_time)
				SELECT 1, 1, 'w' || n, '', 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 'x', 1 FROM generate_series(1, 20000) n`)
			exec(`INSERT INTO result (create_time, workunitid, appid, name, xml_doc_in, server_state, outcome)
				SELECT 1, 1, 1, 'r' || n, '', 5, 5 FROM generate_series(1, 20000) n`)
		}
		exec("ANALYZE")
		reported, arguments := changes.saveResult(Result{}, Result{ServerState: Over, Outcome: Success})
		sent := []any{int64(1), int64(1), int64(1), int64(1), int64(1), int64(1), int64(1), 1.0, "", Unsent}
		count, counted := countJobs.Of(new(HostAppVersion), new(HostAppVersion))
		for _, change := range []struct {
			table string
			finds int // rows by the key: to change them, it first finds them, and then uses their position
			make  *db.Statement
			args  []any
		}{
			{"result", 2, sendResult, sent},
			{"result", 2, sendResultToUser, sent},
			{"result", 2, sendResultToHost, sent},
			{"result", 2, reported, arguments},
			{"workunit", 2, transitionBy, []any{int64(1), int64(1)}},
			{"workunit", 1, holdWorkunit, []any{int64(1)}},
			{"host", 1, holdHost, []any{int64(1)}},
			{"host_app_version", 2, count, counted},
		} {
			for _, text := range db.PostgresChanges(change.make, change.args) {
				if change.finds == 1 && strings.HasPrefix(text, "WITH") {
					continue // a row is held without a condition
				}
				exec("PREPARE x AS " + text)
				rows, err := c.Query(t.Context(), "EXPLAIN EXECUTE x("+strings.TrimSuffix(strings.Repeat("NULL,", strings.Count(text, "::")), ",")+")")
				if err != nil {
					t.Fatal(err)
				}
				lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
				if err != nil {
					t.Fatal(err)
				}
				got := strings.Join(lines, "\n")
				ofIt := strings.Count(got, " on "+change.table+" ")
				byID := strings.Count(got, fmt.Sprintf("Index Scan using %s_pkey on %[1]s ", change.table)) + strings.Count(got, "Tid Scan on "+change.table+" ")
				others := strings.Count(got, "Index Scan using result_workunitid on result o ")
				if updates := strings.Count(got, "Update on "+change.table+" "); byID != change.finds || ofIt-others-updates != byID || strings.Contains(got, "Hash") || strings.Contains(got, "Merge") || strings.Contains(got, "Seq Scan") {
					t.Errorf("filled: %v\n%s\n%s", filled, text, got)
				}
				exec("DEALLOCATE x")
			}
		}
	}
}
