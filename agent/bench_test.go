package agent_test

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"testing"
	"time"

	"github.com/starling-grid/starling/agent"
	"github.com/starling-grid/starling/prefs"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/state"
	"github.com/starling-grid/starling/workfetch"
)

// crowded returns a running agent with as many tasks as one project may have here. Half of them
// wait for a file. The others could run if computing were allowed.
func crowded(b *testing.B) *agent.Agent {
	b.Helper()
	w := &world{dir: b.TempDir(), url: benchURL}
	w.fill(b, func(db *state.DB, tx *state.Tx) {
		h, _ := db.Hosts.Get(state.Self)
		h.RunMode, h.NetMode = prefs.Mode{Kind: prefs.Never}, prefs.Mode{Kind: prefs.Never}
		db.Hosts.Put(tx, state.Self, h)
		db.Projects.Put(tx, benchURL, state.Project{MasterURL: benchURL, SchedulerURLs: []string{benchURL + "cgi"}, HostID: 111, Contact: state.Contact{Initialized: true}})
		v := state.AppVersion{Project: benchURL, AppVersion: protocol.AppVersion{AppName: "app", VersionNum: 1, AvgNCPUs: 1, FileRefs: []protocol.FileRef{{FileName: "prog", MainProgram: true}}}}
		db.Versions.Put(tx, v.ID(), v)
		db.Files.Put(tx, state.Key(benchURL, "prog"), state.File{Project: benchURL, FileInfo: protocol.FileInfo{Name: "prog"}, Local: state.FilePresent})
		for i := range workfetch.MaxHeld {
			unit, name := fmt.Sprintf("workunit_%06d", i), fmt.Sprintf("workunit_%06d_0", i)
			in, out := protocol.FileRef{FileName: unit + "_in"}, protocol.FileRef{FileName: name + "_0"}
			r := state.Result{Project: benchURL, State: protocol.ClientDownloading, Version: v.ID(), Slot: state.NoSlot, Received: time.Now()}
			r.Name, r.WorkunitName, r.FileRefs, r.ReportDeadline = name, unit, []protocol.FileRef{out}, time.Now().Add(time.Duration(100+i%500)*time.Hour)
			f := state.File{Project: benchURL, FileInfo: protocol.FileInfo{Name: in.FileName, NBytes: 1000, DownloadURLs: []string{benchURL + "download/" + in.FileName}}}
			if i%2 == 0 {
				r.State, f.Local = protocol.ClientDownloaded, state.FilePresent
			}
			db.Results.Put(tx, state.Key(benchURL, name), r)
			db.Files.Put(tx, state.Key(benchURL, in.FileName), f)
			db.Files.Put(tx, state.Key(benchURL, out.FileName), state.File{Project: benchURL, Output: true, FileInfo: protocol.FileInfo{Name: out.FileName, MaxNBytes: 1000, UploadURLs: []string{benchURL + "file_upload_handler"}}})
			db.Units.Put(tx, state.Key(benchURL, unit), state.Workunit{Project: benchURL, Workunit: protocol.Workunit{Name: unit, AppName: "app", RscFpopsEst: 1e12, RscMemoryBound: 1e8, FileRefs: []protocol.FileRef{in}}})
		}
	})
	a, err := agent.New(agent.Config{DataDir: w.dir, Log: slog.New(slog.DiscardHandler), Transport: &peer{asked: make(map[string]int)}, Version: "test"})
	must(b, err)
	ctx, cancel := context.WithCancel(b.Context())
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	b.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			b.Error(err)
		}
	})
	if _, err := a.Status(ctx); err != nil {
		b.Fatal(err)
	}
	return a
}

// BenchmarkStatus10000 measures the time that a person waits for, including the loop's own work
// after each event, and the agent's use of memory.
func BenchmarkStatus10000(b *testing.B) {
	a := crowded(b)
	b.ReportAllocs()
	for b.Loop() {
		if s, err := a.Status(b.Context()); err != nil || len(s.Tasks) != workfetch.MaxHeld {
			b.Fatal(len(s.Tasks), err)
		}
	}
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	b.ReportMetric(float64(m.HeapAlloc)/1e6, "MB-held")
	b.ReportMetric(float64(m.Sys)/1e6, "MB-of-system")
}

// BenchmarkStep10000 measures the loop's work after an event, and the pass before it that the event
// causes.
func BenchmarkStep10000(b *testing.B) {
	a := crowded(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := a.Decision(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
