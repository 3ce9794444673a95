package server_test

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/starling-grid/starling/server/store"
)

// backlog is how many results wait to be sent in BenchmarkBacklog; as many are
// finished and not yet archived.
const backlog = 250_000

// BenchmarkBacklog is BenchmarkScheduler with a full database: it shows whether the
// time of a request depends on how much there is.
func BenchmarkBacklog(b *testing.B) { onBoth(b, scheduleFull) }

func scheduleFull(b *testing.B) {
	x := newBench(b)
	x.create(2)
	x.check(x.p.RunOnce(b.Context(), x.now))
	x.multiply(backlog)
	for _, jobs := range []int{1, 10} {
		b.Run(fmt.Sprintf("jobs=%d", jobs), func(b *testing.B) {
			for range b.N {
				x.compute(share, jobs)
			}
			b.ReportMetric(share*float64(b.N)/b.Elapsed().Seconds(), "tasks/s")
		})
	}
	var s store.Status
	x.check(x.p.Store.View(b.Context(), func(tx *store.Tx) (err error) {
		s, err = tx.Status(0)
		return err
	}))
	if n := s.Results.ByServerState[store.Unsent.String()]; n < backlog/2 {
		b.Errorf("%d results are left to send, so the queue was not long", n)
	}
}

// BenchmarkUnsuitable is BenchmarkScheduler with a backlog of results in front that need
// more memory than any of the hosts has: the rate is to be that without them.
func BenchmarkUnsuitable(b *testing.B) { onBoth(b, scheduleBehind) }

func scheduleBehind(b *testing.B) {
	x := newBench(b)
	x.create(2)
	x.check(x.p.RunOnce(b.Context(), x.now))
	x.multiply(backlog)
	x.exec(`UPDATE workunit SET rsc_memory_bound = 1e15 WHERE canonical_resultid = 0`)
	x.exec(`UPDATE result SET kind = 7 WHERE server_state = 2`)
	for _, jobs := range []int{1, 10} {
		b.Run(fmt.Sprintf("jobs=%d", jobs), func(b *testing.B) {
			for range b.N {
				b.StopTimer()
				x.create(share + clients*jobs)
				x.check(x.p.RunOnce(b.Context(), x.now))
				b.StartTimer()
				x.compute(share, jobs)
			}
			b.ReportMetric(share*float64(b.N)/b.Elapsed().Seconds(), "tasks/s")
		})
	}
}

// exec changes the database behind the store's back.
func (x *bench) exec(query string) {
	x.b.Helper()
	db := x.open()
	defer db.Close()
	_, err := db.ExecContext(x.b.Context(), query)
	x.check(err)
}

func (x *bench) open() *sql.DB {
	x.b.Helper()
	driver, where := "sqlite", filepath.Join(x.p.Dir, "project.db")
	if store.IsURL(x.p.Config.Database) {
		driver, where = "pgx", x.p.Config.Database
	}
	db, err := sql.Open(driver, where)
	x.check(err)
	db.SetMaxOpenConns(1)
	return db
}

// multiply makes n copies of each of the first two workunits with its result: those of
// the first wait to be sent, those of the second are finished.
func (x *bench) multiply(n int) {
	x.b.Helper()
	ctx := x.b.Context()
	db := x.open()
	defer db.Close()
	exec := func(format string, args ...any) {
		x.b.Helper()
		_, err := db.ExecContext(ctx, fmt.Sprintf(format, args...))
		x.check(err)
	}
	exec(`UPDATE result SET server_state = 5, outcome = 1, validate_state = 1, file_delete_state = 1 WHERE id = 2`)
	exec(`UPDATE result SET file_delete_state = 2 WHERE id = 2`)
	exec(`UPDATE workunit SET canonical_resultid = 2, assimilate_state = 1 WHERE id = 2`)
	exec(`UPDATE workunit SET assimilate_state = 2, transition_time = %d WHERE id = 2`, store.Never.Unix())
	exec(`UPDATE workunit SET file_delete_state = 1 WHERE id = 2`)
	exec(`UPDATE workunit SET file_delete_state = 2 WHERE id = 2`)
	for id, base := 1, 2; id <= 2; id, base = id+1, base+n {
		const seq = `WITH RECURSIVE seq (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM seq WHERE n < %d) `
		rest := columns(ctx, x, db, "workunit", "id", "name")
		exec(seq+`INSERT INTO workunit (name, %[2]s) SELECT name || '-' || n, %[2]s FROM workunit, seq WHERE id = %[3]d ORDER BY n`, n, rest, id)
		rest = columns(ctx, x, db, "result", "id", "name", "workunitid")
		exec(seq+`INSERT INTO result (name, workunitid, %[2]s) SELECT name || '-' || n, n + %[3]d, %[2]s FROM result, seq WHERE id = %[4]d ORDER BY n`,
			n, rest, base, id)
	}
	exec("ANALYZE")
}

// columns lists the columns of a table but for some.
func columns(ctx context.Context, x *bench, db *sql.DB, table string, but ...string) string {
	x.b.Helper()
	rows, err := db.QueryContext(ctx, "SELECT * FROM "+table+" LIMIT 0")
	x.check(err)
	defer rows.Close()
	names, err := rows.Columns()
	x.check(err)
	x.check(rows.Err())
	return strings.Join(slices.DeleteFunc(names, func(s string) bool { return slices.Contains(but, s) }), ", ")
}
