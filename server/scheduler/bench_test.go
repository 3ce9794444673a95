package scheduler_test

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shirou/gopsutil/v3/process"
	"github.com/starling-grid/starling/internal/testpg"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/scheduler"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/store/storetest"
	"golang.org/x/sync/errgroup"
)

// BenchmarkTasks measures the processor time for a task that is sent and reported. Other programs
// on the computer and the disk hardly change it. There are two figures: the time of this process,
// which does little but answer, and the time of PostgreSQL. p99-ms is the time in which all but a
// hundredth of the requests are answered. A number of hosts send requests at a
// time, and each reports as many tasks as it gets.
func BenchmarkTasks(b *testing.B) {
	cases := []struct{ jobs, hosts int }{{1, 1}, {10, 1}, {50, 1}, {1, 32}, {10, 32}}
	for _, c := range cases {
		b.Run(fmt.Sprintf("sqlite/jobs=%d/hosts=%d", c.jobs, c.hosts), func(b *testing.B) {
			benchTasks(b, filepath.Join(b.TempDir(), "project.db"), nil, c.jobs, c.hosts)
		})
	}
	b.Run("postgres", func(b *testing.B) {
		pg := testpg.Start(b)
		for _, c := range cases {
			b.Run(fmt.Sprintf("jobs=%d/hosts=%d", c.jobs, c.hosts), func(b *testing.B) { benchTasks(b, pg.Database(b), pg, c.jobs, c.hosts) })
		}
	})
}

func benchTasks(b *testing.B, where string, pg *testpg.Server, jobs, hosts int) {
	const tasks = 4000
	check := func(err error) {
		b.Helper()
		must(b, err)
	}
	st, err := store.Open(b.Context(), where)
	check(err)
	defer func() { check(st.Close()) }()
	w := storetest.Fill(b, st)
	s := &scheduler.Scheduler{Store: st, Log: slog.New(slog.DiscardHandler), Config: scheduler.Config{
		Name: "Bench", MasterURL: "http://127.0.0.1/bench/", DownloadURL: "http://127.0.0.1/bench/download/", CodeSignKey: "1024\nab\n.\n",
		Settings: scheduler.Settings{ResendLostResults: true, SendResultAbort: true},
	}}
	s.Config.OneResultPerUserPerWU = true
	s.Feeder.Fresh = 100 * time.Millisecond
	main := protocol.FileInfo{Name: "program", NBytes: 10, Executable: true, Signature: "aa\n."}.XML() +
		protocol.AppVersion{FileRefs: []protocol.FileRef{{FileName: "program", MainProgram: true}}}.XML()
	check(st.Update(b.Context(), func(tx *store.Tx) error {
		_, err := storetest.AddVersion(tx, "x86_64-pc-linux-gnu", store.AppVersion{AppID: w.App.ID, VersionNum: 100, XMLDoc: main})
		return err
	}))
	made := 0
	create := func(n int) {
		check(st.Update(b.Context(), func(tx *store.Tx) error {
			list := make([]store.NewWorkunit, n)
			for i := range list {
				wu := w.Workunit(fmt.Sprint("w", made+i))
				wu.DelayBound, wu.TransitionTime = 1000*time.Hour, store.Never
				wu.XMLDoc = protocol.Workunit{Name: wu.Name, AppName: "upper", RscFpopsEst: wu.RscFpopsEst, RscFpopsBound: wu.RscFpopsBound}.XML()
				list[i].Workunit = wu
			}
			ids, err := tx.InsertWorkunits(list...)
			if err != nil {
				return err
			}
			for i, wu := range list {
				name := wu.Name + "_0"
				doc := protocol.Result{Name: name, WorkunitName: wu.Name}.XML()
				if err := tx.AddResult(store.Result{WorkunitID: ids[i], AppID: w.App.ID, Name: name, XMLDocIn: doc, ServerState: store.Unsent, Kind: wu.Kind()}); err != nil {
					return err
				}
			}
			return nil
		}))
		made += n
	}
	ids, have := make([]int64, hosts), make([][]protocol.ReportedResult, hosts)
	seq := make([]int64, hosts)
	ask := func(h int) (int, error) {
		seq[h]++
		req := protocol.SchedulerRequest{
			Authenticator: w.User.Authenticator, HostID: ids[h], RPCSeqno: seq[h], Client: protocol.Version{Major: 8, Minor: 2}, Platform: "x86_64-pc-linux-gnu",
			CPUReqSeconds: float64(jobs) - 0.5, Results: have[h], // a task takes a second
			Host: protocol.HostInfo{DomainName: fmt.Sprint("h", h), HostCPID: fmt.Sprint("h", h), NCPUs: 4, Fpops: 1e9},
		}
		reply, err := s.Handle(b.Context(), req.Encode(), "192.0.2.1", time.Now())
		if err != nil {
			return 0, err
		}
		if reply.HostID != 0 {
			ids[h] = reply.HostID
		}
		have[h] = nil
		for _, x := range reply.Results {
			have[h] = append(have[h], protocol.ReportedResult{Name: x.Name, State: protocol.ClientUploaded})
		}
		return len(reply.Results), nil
	}
	create(hosts * jobs)
	for h := range hosts {
		_, err := ask(h)
		check(err)
	}
	var ours, theirs float64
	var latencies []time.Duration
	for range b.N {
		b.StopTimer()
		create(tasks + hosts*jobs) // so that the last requests find work, too
		before, dbBefore := cpu(b, os.Getpid(), false), 0.0
		if pg != nil {
			dbBefore = cpu(b, pg.PID(b), true)
		}
		b.StartTimer()
		var sent atomic.Int64
		times := make([][]time.Duration, hosts)
		var all errgroup.Group
		for h := range hosts {
			all.Go(func() error {
				for sent.Load() < tasks {
					began := time.Now()
					n, err := ask(h)
					times[h] = append(times[h], time.Since(began))
					if err != nil || n == 0 {
						return cmp.Or(err, errors.New("no task is sent"))
					}
					sent.Add(int64(n))
				}
				return nil
			})
		}
		check(all.Wait())
		b.StopTimer()
		latencies = append(latencies, slices.Concat(times...)...)
		ours += cpu(b, os.Getpid(), false) - before
		if pg != nil {
			theirs += cpu(b, pg.PID(b), true) - dbBefore
		}
	}
	slices.Sort(latencies)
	b.ReportMetric(float64(latencies[len(latencies)*99/100].Microseconds())/1e3, "p99-ms")
	b.ReportMetric(ours*1e6/float64(tasks*b.N), "cpu-µs/task")
	if pg != nil {
		b.ReportMetric(theirs*1e6/float64(tasks*b.N), "db-cpu-µs/task")
	}
}

// cpu returns the processor seconds of a process, or of its children and itself.
func cpu(tb testing.TB, pid int, children bool) (seconds float64) {
	tb.Helper()
	p, err := process.NewProcess(int32(pid))
	must(tb, err)
	list := []*process.Process{p}
	if children {
		more, _ := p.Children()
		list = append(list, more...)
	}
	for _, p := range list {
		if t, err := p.Times(); err == nil {
			seconds += t.User + t.System
		}
	}
	return seconds
}
