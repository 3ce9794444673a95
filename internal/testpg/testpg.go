// Package testpg runs a PostgreSQL server for a test. Its cluster is in a temporary folder and is
// reached through a socket there. It ends with the test.
package testpg

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver

	"github.com/starling-grid/starling/internal/testwait"
)

// guard makes a cluster and then runs pg_ctl with the words of each line of its input. When its
// input ends, because the test has ended in whatever way, it stops the server and removes the
// folder.
const guard = `
cd "$2" || exit 1
trap '"$1"/pg_ctl -D data -m immediate stop >>log 2>&1; cd /; rm -rf "$2"' EXIT
say() { if [ "$1" = 0 ]; then echo ok; else tail -n 20 log | tr '\n' ' '; echo; fi; }
if [ -n "$3" ]; then
	"$1"/pg_basebackup -D data -h "$3" -U postgres -R -X stream -c fast >>log 2>&1
else
	"$1"/initdb -D data -U postgres -A trust -E UTF8 --locale=C --no-sync >>log 2>&1
fi
say $?
while read -r words; do
	# shellcheck disable=SC2086 # several words
	"$1"/pg_ctl -D data -l log -w -o "-c listen_addresses='' -k '$2'" $words >>log 2>&1 </dev/null
	say $?
done
`

// A Server is a running PostgreSQL server. Its methods belong to the test's
// goroutine.
type Server struct {
	dir   string
	tell  io.Writer
	heard *bufio.Scanner
	last  atomic.Int64 // database
}

// Start starts a server that ends with the test. Where PostgreSQL is not
// installed the test is skipped, but fails if $CI is set.
func Start(t testing.TB) *Server {
	t.Helper()
	return start(t, "")
}

// Standby starts a standby of s that ends with the test. Do with "promote" makes it a primary.
func (s *Server) Standby(t testing.TB) *Server {
	t.Helper()
	return start(t, s.dir)
}

// start makes a new cluster, or a copy of the one of the server at primary.
func start(t testing.TB, primary string) *Server {
	t.Helper()
	bin, err := find()
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skipf("%v; PostgreSQL is NOT tested", err)
	}
	dir, err := os.MkdirTemp("", "pg") //nolint:usetesting // t.TempDir's names are too long for a socket
	check(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	cmd := exec.Command("sh", "-c", guard, "testpg", bin, dir, primary) //nolint:noctx // ends with its input
	check(t, unprivileged(cmd, dir))
	in, err := cmd.StdinPipe()
	check(t, err)
	out, err := cmd.StdoutPipe()
	check(t, err)
	cmd.Stderr = os.Stderr
	check(t, cmd.Start())
	t.Cleanup(func() {
		_ = in.Close()
		_, _ = io.Copy(io.Discard, out)
		_ = cmd.Wait()
	})
	s := &Server{dir: dir, tell: in, heard: bufio.NewScanner(out)}
	s.wait(t, "initdb")
	s.Do(t, "start")
	return s
}

// Do lets pg_ctl start the server, or stop it (-m fast, -m immediate), and waits
// until it has.
func (s *Server) Do(t testing.TB, words string) {
	t.Helper()
	_, err := fmt.Fprintln(s.tell, words)
	check(t, err)
	s.wait(t, words)
}

func (s *Server) wait(t testing.TB, words string) {
	t.Helper()
	if !s.heard.Scan() || s.heard.Text() != "ok" {
		t.Fatalf("PostgreSQL: %s: %s %v", words, s.heard.Text(), s.heard.Err())
	}
}

// Database makes a database and returns its URL.
func (s *Server) Database(t testing.TB) string {
	t.Helper()
	name := fmt.Sprintf("test%d", s.last.Add(1))
	s.Execute(t, "CREATE DATABASE "+name)
	return s.url(name)
}

// Execute runs statements as the server's superuser.
func (s *Server) Execute(t testing.TB, statements ...string) {
	t.Helper()
	db, err := sql.Open("pgx", s.url("postgres"))
	check(t, err)
	defer db.Close()
	for _, statement := range statements {
		_, err := db.ExecContext(context.Background(), statement)
		check(t, err)
	}
}

// CaughtUp waits until the standby of a server has everything that was committed. A reload that
// makes commits wait for it takes effect in each process on its own time.
func (s *Server) CaughtUp(t testing.TB) {
	t.Helper()
	db, err := sql.Open("pgx", s.url("postgres"))
	check(t, err)
	defer db.Close()
	testwait.Until(t, "the standby to catch up", func() bool {
		var n int
		check(t, db.QueryRowContext(context.Background(),
			`SELECT count(*) FROM pg_stat_replication WHERE replay_lsn >= pg_current_wal_lsn() AND sync_state = 'sync'`).Scan(&n))
		return n > 0
	})
}

// PID returns the id of the server's first process, whose children the others are.
func (s *Server) PID(t testing.TB) int {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(s.dir, "data", "postmaster.pid"))
	check(t, err)
	first, _, _ := strings.Cut(string(b), "\n")
	pid, err := strconv.Atoi(first)
	check(t, err)
	return pid
}

// URLOf returns a URL of the database of that name on whichever of servers is the primary.
func URLOf(database string, servers ...*Server) string {
	var dirs []string
	for _, s := range servers {
		dirs = append(dirs, s.dir)
	}
	return "postgres:///" + database + "?user=postgres&target_session_attrs=read-write&host=" + url.QueryEscape(strings.Join(dirs, ","))
}

func (s *Server) url(database string) string {
	return "postgres:///" + database + "?user=postgres&host=" + url.QueryEscape(s.dir)
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("PostgreSQL: %v", err)
	}
}

// find returns the folder of the server's programs, which Debian keeps off the
// path.
func find() (string, error) {
	dirs := filepath.SplitList(os.Getenv("PATH"))
	debian, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	for _, d := range append(debian, dirs...) {
		if _, err := exec.LookPath(filepath.Join(d, "initdb")); err == nil {
			return d, nil
		}
	}
	return "", fmt.Errorf("PostgreSQL is not installed (Debian: postgresql): no initdb in %s", strings.Join(dirs, " "))
}
