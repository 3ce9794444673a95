package server_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/shirou/gopsutil/v3/process"

	"github.com/starling-grid/starling/internal/load"
	"github.com/starling-grid/starling/internal/testhost"
	"github.com/starling-grid/starling/internal/testwait"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server"
	"github.com/starling-grid/starling/server/operate"
	"github.com/starling-grid/starling/server/project"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/workgen"
)

// Common parameters of benchmarks: the number of computers that ask at a time, and their kinds.
const (
	clients = 32
	mix     = "windows=65,linux=25,mac=10"
)

// Applications of a bench.
const (
	silent = "silent" // an application whose tasks have no output file
	upper  = "upper"  // its tasks have one
)

// A bench is a project with its database on disk, durable at each commit.
type bench struct {
	tb    testing.TB
	p     *project.Project
	user  protocol.Authenticator
	store string // the database's kind
	full  bool   // see fill
	hosts int    // that finished results of a full database belong to (0: none)
}

// benchDirs are removed when all is measured: some file systems look past each file
// that was deleted in the last minutes when they make a new one.
var benchDirs []string

func newBench(tb testing.TB) *bench {
	tb.Helper()
	server.RareGC()
	x := &bench{tb: tb, store: "SQLite"}
	tmp, err := os.MkdirTemp("", "starling-bench-*") //nolint:usetesting // see benchDirs
	x.check(err)
	benchDirs = append(benchDirs, tmp)
	port, err := testhost.FreePort()
	x.check(err)
	dir, ctx := filepath.Join(tmp, "p"), tb.Context()
	n := operate.NewProject{Name: "Bench", MasterURL: fmt.Sprintf("http://127.0.0.1:%d/bench/", port)}
	if g := groundOf(tb); g.database != nil {
		n.Database = g.database(tb)
	}
	x.check(operate.Init(ctx, dir, n))
	editSettings(tb, dir, "min_sendwork_interval = 6", "min_sendwork_interval = 0", "daily_result_quota = 100", "daily_result_quota = 0",
		"delete_delay_hours = 24", "delete_delay_hours = 0", // all that is to do for a workunit is measured
		"max_wus_to_send = 10", "max_wus_to_send = 0", "max_requests_per_address = 100", "max_requests_per_address = 0",
		"max_hosts_per_user_day = 500", "max_hosts_per_user_day = 100000")
	x.p, err = project.Open(ctx, dir, slog.New(slog.DiscardHandler))
	x.check(err)
	tb.Cleanup(func() { _ = x.p.Close() })
	if store.IsURL(x.p.Config.Database) {
		x.store = "PostgreSQL"
	}
	x.check(os.WriteFile(filepath.Join(dir, "templates", silent+"_out"), []byte(workgen.OutputText(nil)), 0o600))
	main := filepath.Join(dir, "main")
	x.check(os.WriteFile(main, []byte("any program\x00"), 0o600))
	for _, app := range []string{silent, upper} {
		x.check(operate.AddApp(ctx, x.p, operate.NewApp{Name: app, Validator: "trivial", Assimilator: "copy"}, time.Now()))
		for _, platform := range []string{"x86_64-pc-linux-gnu", "windows_x86_64", "x86_64-apple-darwin"} {
			x.check(operate.AddVersion(ctx, x.p, operate.NewVersion{App: app, Platform: platform, Number: "1.00", Main: main}, time.Now()))
		}
	}
	x.user, err = operate.AddUser(ctx, x.p, "a@example.org", "", "", time.Now())
	x.check(err)
	return x
}

func (x *bench) check(err error) {
	x.tb.Helper()
	if err != nil {
		x.tb.Fatal(err)
	}
}

// create makes n workunits. Those of higher priority are sent first.
func (x *bench) create(app string, n int, priority int64) {
	x.tb.Helper()
	now := time.Now()
	gen, err := operate.Generator(x.tb.Context(), x.p, app, now)
	x.check(err)
	for ; n > 0; n -= 1000 {
		specs := make([]workgen.Spec, min(n, 1000))
		for i := range specs {
			specs[i].Priority = priority
		}
		_, err := gen.Create(x.tb.Context(), specs, now)
		x.check(err)
	}
}

// play answers computers that fetch, upload and report some n tasks, with up to jobs of them in
// each request, in this process. It returns the tasks a second, without the preparation.
func (x *bench) play(n, jobs int) float64 {
	x.tb.Helper()
	web, err := server.New(x.p, server.Part{}).Handler(func() {})
	x.check(err)
	l, err := net.Listen("tcp", x.p.Config.ListenAddr())
	x.check(err)
	srv := &http.Server{Handler: web, ReadHeaderTimeout: time.Minute}
	var wg sync.WaitGroup
	wg.Go(func() { _ = srv.Serve(l) })
	kinds, err := load.ParseMix(mix)
	x.check(err)
	r, err := load.Run(x.tb.Context(), load.Config{
		URL: x.p.Config.MasterURL, Key: x.user, Hosts: clients, Connections: clients, Jobs: jobs, Mix: kinds, Seed: 1,
		Duration: 5 * time.Minute, Tasks: int64(n), Timeout: time.Minute, KeepAlive: true, Upload: true, UploadBytes: 1000,
	})
	x.check(err)
	x.check(srv.Close())
	wg.Wait()
	if r.Measured.Dispatched < int64(n) || r.Unreported > 0 {
		x.tb.Fatalf("%d tasks dispatched, want %d; %d unreported; refused %v, errors %v", r.Measured.Dispatched, n, r.Unreported, r.Measured.Refused, r.Measured.Errors)
	}
	return r.Rate()
}

// settle lets the daemons work side by side, as Serve does, until their queues are
// empty.
func (x *bench) settle() {
	x.tb.Helper()
	ctx, stop := context.WithCancel(x.tb.Context())
	var wg sync.WaitGroup
	wg.Go(func() { _ = server.New(x.p, server.Part{}).Serve(ctx, nil) })
	patience, cancel := context.WithTimeout(ctx, time.Hour)
	defer cancel()
	testwait.Try(x.tb, patience, "queues to be empty", func() (err error) {
		x.check(x.p.Store.View(ctx, func(tx *store.View) error {
			for _, queue := range []func() ([]int64, error){
				func() ([]int64, error) { return tx.Due(time.Now(), 1) },
				func() ([]int64, error) { return tx.Waiting(store.NeedValidate, 0, 1) },
				func() ([]int64, error) { return tx.Waiting(store.ToAssimilate, 0, 1) },
				func() ([]int64, error) { return tx.Waiting(store.InputsToDelete, 0, 1) },
				func() ([]int64, error) { return tx.Waiting(store.OutputsToDelete, 0, 1) },
			} {
				ids, failed := queue()
				if failed != nil {
					return failed
				}
				if len(ids) > 0 {
					err = errors.New("there is work to do")
				}
			}
			return nil
		}))
		return err
	})
	stop()
	wg.Wait()
}

// onBoth runs a benchmark with each kind of database.
func onBoth(b *testing.B, run func(b *testing.B)) {
	b.Helper()
	b.Run("sqlite", run)
	b.Run("postgres", func(b *testing.B) {
		onPostgres(b)
		run(b)
	})
}

func (x *bench) status() (s store.Status) {
	x.tb.Helper()
	x.check(x.p.Store.View(x.tb.Context(), func(tx *store.View) (err error) {
		s, err = tx.Status(0)
		return err
	}))
	return s
}

const share = 4000 // tasks of one turn

// BenchmarkScheduler measures tasks a second, each sent and reported. Every answer is sent only
// after its changes are on disk. Server and computers are one process, which is useful for a
// profile. BenchmarkTable runs them in separate processes.
func BenchmarkScheduler(b *testing.B) {
	onBoth(b, func(b *testing.B) { schedule(b, func(*bench) {}) })
}

// BenchmarkUnsuitable is BenchmarkScheduler with a quarter of a million results (-bench.backlog) in front
// that need more memory than any computer has: the rate is to be that without them.
func BenchmarkUnsuitable(b *testing.B) {
	onBoth(b, func(b *testing.B) { schedule(b, func(x *bench) { x.fill(); x.obstruct() }) })
}

func schedule(b *testing.B, prepare func(x *bench)) {
	for _, jobs := range []int{1, 10} {
		b.Run(fmt.Sprintf("jobs=%d", jobs), func(b *testing.B) {
			x := newBench(b)
			prepare(x)
			b.ResetTimer() // which ran meanwhile
			rates := 0.0
			for range b.N {
				b.StopTimer()
				x.create(silent, share+8*clients*max(jobs, 5), 0) // not all are measured
				x.check(server.New(x.p, server.Part{}).RunOnce(b.Context(), time.Now()))
				b.StartTimer()
				rates += x.play(share, jobs)
			}
			b.ReportMetric(rates/float64(b.N), "tasks/s")
		})
	}
}

// BenchmarkCreate measures workunits created a second, a thousand at a time.
func BenchmarkCreate(b *testing.B) {
	onBoth(b, func(b *testing.B) { repeat(b, (*bench).makeWorkunits) })
}

// BenchmarkTransitioner measures results made a second, with their certificates.
func BenchmarkTransitioner(b *testing.B) {
	onBoth(b, func(b *testing.B) { repeat(b, (*bench).makeResults) })
}

// BenchmarkOutcome measures tasks a second from their report to the end:
// transitioner, validator, assimilator, file deleter. Each has an output file, which
// is read, copied to the project's results and deleted.
func BenchmarkOutcome(b *testing.B) { onBoth(b, func(b *testing.B) { repeat(b, (*bench).finish) }) }

// repeat reports the mean time of one turn with share tasks, and the processor time of this
// process, which is much the same on a busy computer.
func repeat(b *testing.B, turn func(x *bench) spent) {
	b.Helper()
	x, sum := newBench(b), spent{}
	for range b.N {
		s := turn(x)
		sum.time += s.time
		sum.cpu += s.cpu
	}
	b.ReportMetric(share*float64(b.N)/sum.time.Seconds(), "tasks/s")
	b.ReportMetric(float64(sum.cpu.Microseconds())/(share*float64(b.N)), "cpu-µs/task")
}

// spent is the time that something took.
type spent struct{ time, cpu time.Duration }

func (x *bench) spend(on func()) spent {
	x.tb.Helper()
	now := func() time.Duration {
		p, err := process.NewProcess(int32(os.Getpid()))
		x.check(err)
		t, err := p.Times()
		x.check(err)
		return time.Duration((t.User + t.System) * float64(time.Second))
	}
	begin, cpu := time.Now(), now()
	on()
	return spent{time.Since(begin), now() - cpu}
}

// makeWorkunits returns the time spent on creating share workunits.
func (x *bench) makeWorkunits() spent {
	x.tb.Helper()
	return x.spend(func() { x.create(upper, share, 0) })
}

// makeResults returns the time spent on creating the results of share workunits.
func (x *bench) makeResults() spent {
	x.tb.Helper()
	x.create(upper, share, 0)
	return x.spend(func() { x.check(server.New(x.p, server.Part{}).RunOnce(x.tb.Context(), time.Now())) })
}

// finish returns the time spent on the outcomes of share tasks after their reports.
func (x *bench) finish() spent {
	x.tb.Helper()
	x.create(upper, share+20*clients, 0)
	x.check(server.New(x.p, server.Part{}).RunOnce(x.tb.Context(), time.Now()))
	x.play(share, 10)
	took := x.spend(x.settle)
	if s := x.status(); s.Workunits.Canonical < share || s.Workunits.Canonical != s.Workunits.FilesDeleted || s.Results.WaitingFileDelete > 0 {
		x.tb.Errorf("not all is finished: %+v, %+v", s.Workunits, s.Results)
	}
	return took
}
