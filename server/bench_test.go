package server_test

import (
	"bytes"
	"context"
	"crypto/md5"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/workgen"
)

// clients is how many computers the benchmarks serve at a time.
const clients = 32

// A bench is a project with its database on disk, durable at each commit.
type bench struct {
	b    *testing.B
	p    *server.Project
	web  http.Handler
	user protocol.Authenticator
	gen  *workgen.Generator
	now  time.Time

	uploads bool // outputs before they are reported
}

// benchDirs are removed when all is measured: some file systems look past each file
// that was deleted in the last minutes when they make a new one.
var benchDirs []string

func newBench(b *testing.B) *bench {
	b.Helper()
	server.RareGC()
	x := &bench{b: b, now: time.Now()}
	tmp, err := os.MkdirTemp("", "starling-bench-*") //nolint:usetesting // see benchDirs
	x.check(err)
	benchDirs = append(benchDirs, tmp)
	dir, ctx := filepath.Join(tmp, "p"), b.Context()
	x.check(server.Init(ctx, dir, server.NewProject{Name: "Bench", MasterURL: master, Database: database(b)}))
	x.p, err = server.Open(ctx, dir, slog.New(slog.DiscardHandler))
	x.check(err)
	b.Cleanup(func() { _ = x.p.Close() })
	x.p.Config.MinSendworkInterval, x.p.Config.DailyResultQuota, x.p.Config.MaxWusToSend = 0, 0, 0
	x.web, err = x.p.Handler(func() {})
	x.check(err)
	x.check(x.p.AddApp(ctx, server.NewApp{Name: "a", Validator: "trivial", Assimilator: "copy"}, x.now))
	x.check(x.p.AddVersion(ctx, server.NewVersion{App: "a", Platform: "x86_64-pc-linux-gnu", Number: "1.00", Main: "bench_test.go"}, x.now))
	x.user, err = x.p.AddUser(ctx, "a@example.org", "", "", x.now)
	x.check(err)
	x.gen, err = x.p.Generator(ctx, "a", x.now)
	x.check(err)
	return x
}

func (x *bench) check(err error) {
	x.b.Helper()
	if err != nil {
		x.b.Fatal(err)
	}
}

func (x *bench) create(n int) {
	x.b.Helper()
	for ; n > 0; n -= 1000 {
		_, err := x.gen.Create(x.b.Context(), make([]workgen.Spec, min(n, 1000)), x.now)
		x.check(err)
	}
}

// compute fetches and reports at least n tasks, up to jobs of them in each RPC.
func (x *bench) compute(n, jobs int) {
	var sent atomic.Int64
	var wg sync.WaitGroup
	for i := range clients {
		wg.Go(func() {
			name := fmt.Sprint(i)
			req := protocol.SchedulerRequest{
				Authenticator: x.user, Client: protocol.Version{Major: 7, Minor: 20}, Platform: "x86_64-pc-linux-gnu",
				CPUReqSeconds: 3600 * (float64(jobs) - 0.5), // a task takes an hour
				Host:          protocol.HostInfo{DomainName: name, HostCPID: name, NCPUs: 4, Fpops: 1e9},
			}
			for more := true; more || len(req.Results) > 0; {
				if more = sent.Load() < int64(n); !more {
					req.CPUReqSeconds = 0
				}
				rec := httptest.NewRecorder()
				x.web.ServeHTTP(rec, httptest.NewRequest("POST", master+"cgi", bytes.NewReader(req.Encode())))
				reply, err := protocol.ParseSchedulerReply(rec.Body.Bytes())
				if err != nil || more && len(reply.Results) == 0 && sent.Load() < int64(n) {
					x.b.Errorf("no work: %v, %+v", err, reply)
					return
				}
				if req.RPCSeqno++; reply.HostID != 0 {
					req.HostID, req.RPCSeqno = reply.HostID, 1
				}
				req.Results = req.Results[:0]
				for _, f := range reply.Files {
					if x.uploads && len(f.UploadURLs) > 0 {
						x.upload(f)
					}
				}
				for _, r := range reply.Results {
					req.Results = append(req.Results, protocol.ReportedResult{Name: r.Name, State: protocol.ClientUploaded})
				}
				sent.Add(int64(len(reply.Results)))
			}
		})
	}
	wg.Wait()
}

// upload stores a host's output: its name's last character, so that all is one size.
func (x *bench) upload(f protocol.FileInfo) {
	data := f.Name[len(f.Name)-1:]
	sum := md5.Sum([]byte(data))
	body := protocol.UploadRequest{
		Name: f.Name, XMLSignature: f.XMLSignature, MaxNBytes: f.MaxNBytes, NBytes: int64(len(data)), MD5: hex.EncodeToString(sum[:]),
	}.Encode()
	rec := httptest.NewRecorder()
	x.web.ServeHTTP(rec, httptest.NewRequest("POST", master+"file_upload_handler", bytes.NewReader(append(body, data...))))
	if !strings.Contains(rec.Body.String(), "<status>0</status>") {
		x.b.Errorf("upload: %s", rec.Body)
	}
}

// serve lets the daemons work side by side, as Serve does, until their queues are
// empty.
func (x *bench) serve() {
	ctx, stop := context.WithCancel(x.b.Context())
	var wg sync.WaitGroup
	wg.Go(func() { _ = x.p.Serve(ctx, nil, server.Part{}) })
	for waiting := true; waiting; {
		time.Sleep(5 * time.Millisecond)
		waiting = false
		x.check(x.p.Store.View(ctx, func(tx *store.Tx) error {
			for _, queue := range []func() ([]int64, error){
				func() ([]int64, error) { return tx.Due(time.Now(), 1) },
				func() ([]int64, error) { return tx.NeedValidate(0, 1) },
				func() ([]int64, error) { return tx.ToAssimilate(0, 1) },
				func() ([]int64, error) { return tx.WorkunitsToDelete(0, 1) },
				func() ([]int64, error) { return tx.ResultsToDelete(0, 1) },
			} {
				ids, err := queue()
				if err != nil {
					return err
				}
				waiting = waiting || len(ids) > 0
			}
			return nil
		}))
	}
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

// finished sees that what was reported came to its end.
func (x *bench) finished() {
	var s store.Status
	x.check(x.p.Store.View(x.b.Context(), func(tx *store.Tx) (err error) {
		s, err = tx.Status(0)
		return err
	}))
	if w := s.Workunits; w.Canonical < share || w.Canonical != w.FilesDeleted || s.Results.WaitingFileDelete > 0 {
		x.b.Errorf("not all is finished: %+v, %+v", w, s.Results)
	}
}

const share = 4000 // tasks of one turn

// BenchmarkScheduler measures tasks a second, each sent and reported; every
// answer is on disk before it leaves.
func BenchmarkScheduler(b *testing.B) { onBoth(b, schedule) }

func schedule(b *testing.B) {
	for _, jobs := range []int{1, 10} {
		b.Run(fmt.Sprintf("jobs=%d", jobs), func(b *testing.B) {
			x := newBench(b)
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

// BenchmarkTransitioner measures results made a second, with their certificates.
func BenchmarkTransitioner(b *testing.B) { onBoth(b, makeResults) }

func makeResults(b *testing.B) {
	x := newBench(b)
	for range b.N {
		b.StopTimer()
		x.create(share)
		b.StartTimer()
		x.check(x.p.RunOnce(b.Context(), x.now))
	}
	b.ReportMetric(share*float64(b.N)/b.Elapsed().Seconds(), "tasks/s")
}

// BenchmarkOutcome measures tasks a second from their report to the end:
// transitioner, validator, assimilator, file deleter. Each has an output file, which
// is read, copied to the project's results and deleted.
func BenchmarkOutcome(b *testing.B) { onBoth(b, finish) }

func finish(b *testing.B) {
	x := newBench(b)
	x.uploads = true
	for range b.N {
		b.StopTimer()
		x.create(share + 10*clients)
		x.check(x.p.RunOnce(b.Context(), x.now))
		x.compute(share, 10)
		b.StartTimer()
		x.serve()
		b.StopTimer()
		x.finished()
		b.StartTimer()
	}
	b.ReportMetric(share*float64(b.N)/b.Elapsed().Seconds(), "tasks/s")
}
