package server_test

import (
	"context"
	"database/sql"
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/starling-grid/starling/server"
	"github.com/starling-grid/starling/server/store"
)

var (
	backlog  = flag.Int("bench.backlog", 250_000, "results that wait to be sent in a full database")
	finished = flag.Int("bench.finished", 250_000, "results that are finished in a full database")
)

// fill makes the bench's database large, if it is not.
func (x *bench) fill() {
	x.tb.Helper()
	if x.full {
		return
	}
	x.full = true
	x.create(silent, 2, 0)
	x.check(server.New(x.p, server.Part{}).RunOnce(x.tb.Context(), time.Now()))
	x.multiply(*backlog, *finished)
}

// stillFull sees that the queue of results to be sent was long all the time.
func (x *bench) stillFull() {
	x.tb.Helper()
	if n := x.status().Results.ByServerState[store.Unsent.String()]; n < int64(*backlog)/4 {
		x.tb.Errorf("%d results are left to send, so the queue was not long", n)
	}
}

// obstruct makes all that waits need more memory than any computer has.
func (x *bench) obstruct() {
	x.tb.Helper()
	db := x.open()
	defer db.Close()
	for _, query := range []string{
		`UPDATE workunit SET rsc_memory_bound = 1e15 WHERE canonical_resultid = 0`,
		`UPDATE result SET kind = 7 WHERE server_state = 2`, // any number that is theirs alone
	} {
		_, err := db.ExecContext(x.tb.Context(), query)
		x.check(err)
	}
	x.rest(db)
}

// rest makes the database do its pending work now, so that it does not run during the measurement.
func (x *bench) rest(db *sql.DB) {
	x.tb.Helper()
	queries := []string{"VACUUM ANALYZE", "CHECKPOINT"}
	if !store.IsURL(x.p.Config.Database) {
		queries = []string{"ANALYZE", "PRAGMA wal_checkpoint(TRUNCATE)"}
	}
	for _, query := range queries {
		_, err := db.ExecContext(x.tb.Context(), query)
		x.check(err)
	}
}

// open opens the database behind the store's back.
func (x *bench) open() *sql.DB {
	x.tb.Helper()
	driver, where := "sqlite", filepath.Join(x.p.Dir, "project.db")
	if store.IsURL(x.p.Config.Database) {
		driver, where = "pgx", x.p.Config.Database
	}
	db, err := sql.Open(driver, where)
	x.check(err)
	db.SetMaxOpenConns(1)
	if driver == "sqlite" {
		_, err := db.ExecContext(x.tb.Context(), "PRAGMA cache_size(-2000000)") // else it fills the table for hours
		x.check(err)
	}
	return db
}

// A portion of the copies is made in one transaction. With all in one, SQLite's log would be as large as the database.
const portion = 500_000

// multiply makes copies of the first two workunits with their results: copies of the first have
// unsent results, copies of the second have finished ones.
func (x *bench) multiply(waiting, finished int) {
	x.tb.Helper()
	ctx := x.tb.Context()
	db := x.open()
	defer db.Close()
	exec := func(format string, args ...any) {
		x.tb.Helper()
		_, err := db.ExecContext(ctx, fmt.Sprintf(format, args...))
		x.check(err)
	}
	exec(`UPDATE result SET server_state = 5, outcome = 1, validate_state = 1, file_delete_state = 1 WHERE id = 2`)
	exec(`UPDATE result SET file_delete_state = 2 WHERE id = 2`)
	exec(`UPDATE workunit SET canonical_resultid = 2, assimilate_state = 1 WHERE id = 2`)
	exec(`UPDATE workunit SET assimilate_state = 2, transition_time = %d WHERE id = 2`, store.Never.Unix())
	exec(`UPDATE workunit SET file_delete_state = 1 WHERE id = 2`)
	// Without that time the purger would take all of them.
	exec(`UPDATE workunit SET file_delete_state = 2, mod_time = %d WHERE id = 2`, time.Now().Unix())
	units := columns(ctx, x, db, "workunit", "id", "name", "xml_doc")
	results := columns(ctx, x, db, "result", "id", "name", "workunitid", "hostid")
	base := 2 // the last id
	for i, all := range []int{waiting, finished} {
		id, host := i+1, "0"
		if finished := i == 1; finished && x.hosts > 0 {
			host = fmt.Sprintf("1 + n %% %d", x.hosts)
		}
		for first := 1; first <= all; first += portion {
			seq := fmt.Sprintf(`WITH RECURSIVE seq (n) AS (SELECT %d UNION ALL SELECT n + 1 FROM seq WHERE n < %d) `, first, min(first+portion-1, all))
			// A description contains the workunit's name.
			exec(seq+`INSERT INTO workunit (name, xml_doc, %[1]s) SELECT name || '-' || n, replace(xml_doc, name, name || '-' || n), %[1]s
				FROM workunit, seq WHERE id = %[2]d ORDER BY n`, units, id)
			exec(seq+`INSERT INTO result (name, workunitid, hostid, %[1]s) SELECT name || '-' || n, n + %[2]d, %[4]s, %[1]s FROM result, seq WHERE id = %[3]d ORDER BY n`,
				results, base, id, host)
		}
		base += all
	}
	x.rest(db)
}

// columns lists the columns of a table, except some.
func columns(ctx context.Context, x *bench, db *sql.DB, table string, but ...string) string {
	x.tb.Helper()
	rows, err := db.QueryContext(ctx, "SELECT * FROM "+table+" LIMIT 0")
	x.check(err)
	defer rows.Close()
	names, err := rows.Columns()
	x.check(err)
	x.check(rows.Err())
	return strings.Join(slices.DeleteFunc(names, func(s string) bool { return slices.Contains(but, s) }), ", ")
}
