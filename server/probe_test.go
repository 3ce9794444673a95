package server_test

import (
	"database/sql"
	"encoding/binary"
	"os"
	"path/filepath"
	"time"

	"github.com/starling-grid/starling/internal/testwait"
	"github.com/starling-grid/starling/server/store"
)

// syncs returns how often the database has waited for the disk so far. For SQLite this is the
// number of its transactions, since each is one sync of the log. For PostgreSQL it is the number of
// syncs of its log.
func (x *bench) syncs() int64 {
	x.tb.Helper()
	if store.IsURL(x.p.Config.Database) {
		db, err := sql.Open("pgx", x.p.Config.Database)
		x.check(err)
		defer db.Close()
		time.Sleep(1100 * time.Millisecond) // PostgreSQL's processes publish their statistics once a second
		var n int64
		_ = db.QueryRowContext(x.tb.Context(), "SELECT wal_sync FROM pg_stat_wal").Scan(&n) // PostgreSQL 14 to 17 have it
		return n
	}
	// Source: https://www.sqlite.org/walformat.html, the index's header: byte 8 begins a
	// counter of transactions.
	f, err := os.Open(filepath.Join(x.p.Dir, "project.db-shm"))
	x.check(err)
	defer f.Close()
	var b [12]byte
	_, err = f.ReadAt(b[:], 0)
	x.check(err)
	return int64(binary.NativeEndian.Uint32(b[8:]))
}

// acquainted waits until servers on one PostgreSQL have found each other: each has reported once
// more after all had started.
func (x *bench) acquainted(servers int) {
	x.tb.Helper()
	db, err := sql.Open("pgx", x.p.Config.Database)
	x.check(err)
	defer db.Close()
	var complete int64
	testwait.Until(x.tb, "the servers to know of each other", func() bool {
		var count int
		var seen int64
		x.check(db.QueryRowContext(x.tb.Context(), "SELECT count(*), coalesce(min(seen_time), 0) FROM front").Scan(&count, &seen))
		if complete == 0 && count >= servers {
			complete = time.Now().Unix()
		}
		return complete > 0 && seen > complete
	})
}

// syncTime returns the mean number of seconds that the disk takes to make a page safe.
func (x *bench) syncTime() float64 {
	x.tb.Helper()
	f, err := os.Create(filepath.Join(x.p.Dir, "sync"))
	x.check(err)
	defer f.Close()
	const n = 200
	begin := time.Now()
	for range n {
		_, err := f.Write(make([]byte, 4096))
		x.check(err)
		x.check(f.Sync())
	}
	return time.Since(begin).Seconds() / n
}
