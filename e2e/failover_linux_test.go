package e2e_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/starling-grid/starling/internal/testhost"
	"github.com/starling-grid/starling/internal/testpg"
	"github.com/starling-grid/starling/internal/testwait"
	"github.com/starling-grid/starling/server/store"
)

// Two processes of each role work on a database with a synchronous standby. The primary is killed
// under load and the standby promoted. Later the old primary is started again by mistake.
// Acknowledged reports are never lost, and no process writes to the old primary.
func TestFailover(t *testing.T) {
	onDemand(t, "STARLING_FAILOVER", "failover")
	ctx := patience(t)
	first := testpg.Start(t)
	where, err := url.Parse(first.Database(t))
	must(t, err)
	name := strings.TrimPrefix(where.Path, "/")
	second := first.Standby(t)
	first.Execute(t, `ALTER SYSTEM SET synchronous_standby_names = '*'`, `SELECT pg_reload_conf()`)
	const n = 600
	c := newCluster(t, testpg.URLOf(name, first, second))
	c.outage = true
	var left int64
	c.work(ctx, n, func() {
		c.await(ctx, "a quarter", func(st store.Status) bool { return st.Workunits.Canonical >= n/4 })
		first.Do(t, "stop -m immediate")
		killed := time.Now()
		second.Do(t, "promote")
		promoted := time.Now()
		done := c.status().Workunits.Canonical
		c.await(ctx, "work on the new primary", func(st store.Status) bool { return st.Workunits.Canonical > done })
		t.Logf("promoted %v after the end of the first, the next workunit done %v later",
			promoted.Sub(killed).Round(time.Millisecond), time.Since(promoted).Round(time.Millisecond))

		first.Do(t, "start")
		first.Execute(t, `ALTER SYSTEM RESET synchronous_standby_names`, `SELECT pg_reload_conf()`)
		left = finishedIn(t, testpg.URLOf(name, first))
		for _, role := range []string{"scheduler", "validator"} { // a process that starts now has not seen the failover
			c.procs[role+"0"].Kill()
			c.start(role, 0)
		}
	})
	if got := finishedIn(t, testpg.URLOf(name, first)); got != left {
		t.Errorf("the replaced primary has %d finished results and had %d when it returned", got, left)
	}
}

// The same with Patroni and etcd, which promote the standby automatically.
func TestFailoverByPatroni(t *testing.T) {
	onDemand(t, "STARLING_FAILOVER", "failover")
	ctx := patience(t)
	p := newPatroni(t, ctx)
	const n = 600
	c := newCluster(t, p.database(t))
	c.outage = true
	c.work(ctx, n, func() {
		c.await(ctx, "a quarter", func(st store.Status) bool { return st.Workunits.Canonical >= n/4 })
		leader := p.leader(t, ctx, -1)
		p.kill(t, leader)
		killed := time.Now()
		p.leader(t, ctx, leader)
		t.Logf("another primary after %v", time.Since(killed).Round(time.Millisecond))
		p.start(t, leader) // it becomes a standby of the new one
	})
}

// finishedIn counts the finished results in a database.
func finishedIn(t *testing.T, where string) (n int64) {
	t.Helper()
	db, err := sql.Open("pgx", where)
	must(t, err)
	defer db.Close()
	must(t, db.QueryRowContext(t.Context(), `SELECT count(*) FROM result WHERE server_state = 5`).Scan(&n))
	return n
}

// A pooler that does not preserve a session's settings, whether it rejects them or drops them, is
// refused, and the error explains why.
func TestPoolersAreRefused(t *testing.T) {
	onDemand(t, "STARLING_FAILOVER", "failover")
	where, err := url.Parse(testpg.Start(t).Database(t))
	must(t, err)
	for _, ignored := range []string{"", "plan_cache_mode, enable_seqscan, enable_bitmapscan, max_parallel_workers_per_gather, jit"} {
		port := freePort(t)
		dir := serverDir(t)
		settings := filepath.Join(dir, "pgbouncer.ini")
		if err := os.WriteFile(settings, fmt.Appendf(nil, "[databases]\n* = host=%s user=postgres\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = %d\n"+
			"unix_socket_dir =\nauth_type = any\npool_mode = transaction\nignore_startup_parameters = %s\n", where.Query().Get("host"), port, ignored), 0o600); err != nil {
			t.Fatal(err)
		}
		asPostgres(t, dir, "pgbouncer", settings)
		pooled := fmt.Sprintf("postgres://postgres@127.0.0.1:%d%s", port, where.Path)
		testwait.Try(t, t.Context(), fmt.Sprintf("%v, with %q ignored", store.ErrPooler, ignored), func() error {
			s, err := store.Open(t.Context(), pooled)
			if err == nil {
				_ = s.Close()
				t.Fatalf("with %q ignored the database is opened", ignored)
			}
			if errors.Is(err, store.ErrPooler) {
				return nil
			}
			return err
		})
	}
}

// patroni is a cluster of two PostgreSQL servers under the control of Patroni.
type patroni struct {
	etcd  int // port
	nodes [2]struct {
		dir       string
		api, port int
		proc      *exec.Cmd
	}
}

func newPatroni(t *testing.T, ctx context.Context) *patroni {
	t.Helper()
	p := new(patroni)
	port := func() int {
		n, err := testhost.FreePort()
		must(t, err)
		return n
	}
	p.etcd = port()
	client, peer := fmt.Sprintf("http://127.0.0.1:%d", p.etcd), fmt.Sprintf("http://127.0.0.1:%d", port())
	dir := serverDir(t)
	asPostgres(t, dir, "etcd", "--data-dir", filepath.Join(dir, "data"), "--listen-client-urls", client, "--advertise-client-urls", client,
		"--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", "default="+peer)
	for i := range p.nodes {
		n := &p.nodes[i]
		n.dir, n.api, n.port = serverDir(t), port(), port()
		binaries, err := filepath.Glob("/usr/lib/postgresql/*/bin")
		if err != nil || len(binaries) == 0 {
			t.Fatalf("PostgreSQL is not installed: %v", err)
		}
		settings := fmt.Sprintf(`
scope: starling
name: node%d
restapi: {listen: "127.0.0.1:%d", connect_address: "127.0.0.1:%d"}
etcd3: {host: "127.0.0.1:%d"}
bootstrap:
  dcs: {ttl: 20, loop_wait: 1, retry_timeout: 3, maximum_lag_on_failover: 0, synchronous_mode: true, postgresql: {use_pg_rewind: false}}
  initdb: [{encoding: UTF8}, {locale: C}, {auth: trust}]
  pg_hba: ["local all all trust", "host all all 127.0.0.1/32 trust", "host replication all 127.0.0.1/32 trust"]
postgresql:
  listen: "127.0.0.1:%d"
  connect_address: "127.0.0.1:%d"
  data_dir: %q
  bin_dir: %q
  remove_data_directory_on_diverged_timelines: true
  parameters: {unix_socket_directories: %q}
  authentication: {superuser: {username: postgres}, replication: {username: postgres}}
`, i, n.api, n.api, p.etcd, n.port, n.port, filepath.Join(n.dir, "data"), binaries[len(binaries)-1], n.dir)
		must(t, os.WriteFile(filepath.Join(n.dir, "patroni.yml"), []byte(settings), 0o600))
		p.start(t, i)
	}
	p.leader(t, ctx, -1)
	p.until(t, ctx, "a synchronous standby", func() bool { return p.answers(ctx, 0, "sync") || p.answers(ctx, 1, "sync") })
	return p
}

func (p *patroni) start(t *testing.T, i int) {
	t.Helper()
	p.nodes[i].proc = asPostgres(t, p.nodes[i].dir, "patroni", filepath.Join(p.nodes[i].dir, "patroni.yml"))
}

// kill ends a node's processes, as if its computer lost power.
func (p *patroni) kill(t *testing.T, i int) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(p.nodes[i].dir, "data", "postmaster.pid"))
	must(t, err)
	first, _, _ := strings.Cut(string(b), "\n")
	postmaster, err := strconv.Atoi(first)
	must(t, err)
	_ = p.nodes[i].proc.Process.Kill()
	_ = p.nodes[i].proc.Wait()
	_ = syscall.Kill(postmaster, syscall.SIGKILL)
}

// leader waits until a node other than the given one is the primary, and returns it.
func (p *patroni) leader(t *testing.T, ctx context.Context, than int) (leader int) {
	t.Helper()
	p.until(t, ctx, "a primary", func() bool {
		for leader = range p.nodes {
			if leader != than && p.answers(ctx, leader, "primary") {
				return true
			}
		}
		return false
	})
	return leader
}

func (p *patroni) until(t *testing.T, ctx context.Context, what string, done func() bool) {
	t.Helper()
	testwait.Try(t, ctx, what, func() error {
		if !done() {
			return errors.New("not yet")
		}
		return nil
	})
}

// answers reports whether Patroni confirms that a node has a role.
func (p *patroni) answers(ctx context.Context, i int, role string) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d/%s", p.nodes[i].api, role), nil)
	if err != nil {
		return false
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	_ = resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

// database makes a database and returns a URL for it that works with either node as the primary.
func (p *patroni) database(t *testing.T) string {
	t.Helper()
	where := func(name string) string {
		return fmt.Sprintf("postgres://postgres@127.0.0.1:%d,127.0.0.1:%d/%s?target_session_attrs=read-write", p.nodes[0].port, p.nodes[1].port, name)
	}
	db, err := sql.Open("pgx", where("postgres"))
	must(t, err)
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), "CREATE DATABASE starling"); err != nil {
		t.Fatal(err)
	}
	// A server that does not have the database yet ends the search for a usable one.
	for _, n := range p.nodes {
		one, err := sql.Open("pgx", fmt.Sprintf("postgres://postgres@127.0.0.1:%d/starling", n.port))
		must(t, err)
		p.until(t, t.Context(), "the database on both servers", func() bool { return one.PingContext(t.Context()) == nil })
		_ = one.Close()
	}
	return where("starling")
}

// serverDir returns a folder that belongs to PostgreSQL's user, because PostgreSQL refuses to run
// as root.
func serverDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "failover") //nolint:usetesting // t.TempDir's names are too long for a socket
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// asPostgres starts a program as PostgreSQL's user. It ends with the test.
func asPostgres(t *testing.T, dir, program string, args ...string) *exec.Cmd {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		if path, err = exec.LookPath("/usr/sbin/" + program); err != nil {
			t.Fatal(err)
		}
	}
	log, err := os.OpenFile(filepath.Join(dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	must(t, err)
	defer log.Close()
	cmd := exec.Command(path, args...) //nolint:noctx // ended below
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.Env = dir, log, log, append(os.Environ(), "HOME="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if os.Geteuid() == 0 {
		u, err := user.Lookup("postgres")
		must(t, err)
		uid, _ := strconv.ParseUint(u.Uid, 10, 32)
		gid, _ := strconv.ParseUint(u.Gid, 10, 32)
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		err = filepath.Walk(dir, func(path string, _ os.FileInfo, err error) error {
			if err != nil {
				return err
			}
			return os.Lchown(path, int(uid), int(gid))
		})
		must(t, err)
	}
	must(t, cmd.Start())
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM)
		_ = cmd.Wait()
	})
	return cmd
}
