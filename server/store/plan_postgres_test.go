package store

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/starling-grid/starling/internal/testpg"
	"github.com/starling-grid/starling/server/db"
)

// A server is busy from its first minute on, before PostgreSQL has statistics of its tables. Even
// then, a query of each request must not read or sort a whole table.
func TestPostgresNeedsNoStatistics(t *testing.T) {
	url := testpg.Start(t).Database(t)
	s := OpenFor(t, url)
	c := connectAsStore(t, url)
	must := func(text string, args ...any) {
		t.Helper()
		if _, err := c.Exec(t.Context(), text, args...); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	must(`ALTER TABLE workunit SET (autovacuum_enabled = off); ALTER TABLE result SET (autovacuum_enabled = off)`)
	if err := s.Update(t.Context(), func(tx *Tx) error {
		app, err := tx.InsertApp(App{Name: "app", Weight: 1})
		if err != nil {
			return err
		}
		wu := Workunit{AppID: app, Name: "w", TransitionTime: Never, DelayBound: time.Hour, MinQuorum: 1, TargetNResults: 1, MaxErrorResults: 1, MaxTotalResults: 1, MaxSuccessResults: 1, RscFpopsEst: 1, RscFpopsBound: 1, RscMemoryBound: 1, RscDiskBound: 1}
		ids, err := tx.InsertWorkunits(NewWorkunit{Workunit: wu})
		if err != nil {
			return err
		}
		return tx.AddResult(Result{WorkunitID: ids[0], AppID: app, Name: "w_0", ServerState: Unsent, Kind: wu.Kind()})
	}); err != nil {
		t.Fatal(err)
	}
	// The statistics may also be an hour old, from when all results were over.
	const came = "outcome, validate_state, file_delete_state, hostid, userid, sent_time, report_deadline, received_time"
	went := map[ServerState]string{Over: "1, 1, 2, n % 100, 1, 1, 1, 1", Unsent: "0, 0, 0, 0, 0, 0, 0, 0"}
	for _, state := range []ServerState{Over, Unsent} {
		for _, table := range []string{"workunit", "result"} {
			var columns string
			if err := c.QueryRow(t.Context(), `SELECT string_agg(quote_ident(column_name), ', ') FROM information_schema.columns
			WHERE table_name = $1 AND column_name NOT IN ('id', 'name', 'workunitid', 'server_state', 'hostid', 'userid', 'sent_time', 'report_deadline', 'received_time', 'outcome', 'validate_state', 'file_delete_state')`, table).Scan(&columns); err != nil {
				t.Fatal(err)
			}
			more, values := "name", "name || n || '_' || $1::bigint"
			if table == "result" {
				more, values = "name, workunitid, server_state, "+came, "name || n || '_' || $1::bigint, n + 1, $1::bigint, "+went[state]
			}
			must(fmt.Sprintf("INSERT INTO %[1]s (%[2]s, %[3]s) SELECT %[2]s, %[4]s FROM %[1]s, generate_series(1, 30000) n WHERE %[1]s.id = 1", table, columns, more, values), state)
		}
		if state == Over {
			must("ANALYZE")
		}
	}
	queries := []string{
		unsent, unsentFits, unsentKinds, dueWorkunits, string(NeedValidate), string(ToAssimilate), string(InputsToDelete), string(OutputsToDelete),
		string(NeedInputs), string(CanonicalToTake),
		hadByUser, hadByHost, theirVersions, sharedFiles, chained, msgsToHost,
	}
	for _, l := range []lookup{resultsByName, hostByID, userByKey, teamByID, hostAppVersions, inProgressNames, countInProgress, hostsWithMsgs, workunitsByID} {
		queries = append(queries, l.one, l.several)
	}
	for i, query := range queries {
		text := db.PostgresQuery(query)
		name := fmt.Sprint("q", i)
		if _, err := c.Exec(t.Context(), "PREPARE "+name+" AS "+text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		args := make([]string, strings.Count(text, "$"))
		d, err := c.Prepare(t.Context(), "", text)
		if err != nil {
			t.Fatal(err)
		}
		args = args[:len(d.ParamOIDs)]
		for i := range args {
			args[i] = "NULL"
		}
		call := name
		if len(args) > 0 {
			call += "(" + strings.Join(args, ", ") + ")"
		}
		r, err := c.Query(t.Context(), "EXPLAIN EXECUTE "+call)
		if err != nil {
			t.Fatal(err)
		}
		lines, err := pgx.CollectRows(r, pgx.RowTo[string])
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range lines {
			if strings.Contains(l, "Seq Scan") || strings.Contains(l, "Gather") || strings.Contains(l, "Hash") || strings.Contains(l, "Merge") || strings.Contains(l, "Sort") && strings.Contains(query, "LIMIT") {
				t.Errorf("%s\n%s", text, strings.Join(lines, "\n"))
				break
			}
		}
	}
}

// connectAsStore opens a connection with the settings of a store's own ones.
func connectAsStore(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	c, err := db.ConnectPostgres(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(context.Background()) })
	return c
}
