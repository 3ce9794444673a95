package server_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server"
	"github.com/starling-grid/starling/server/workgen"
)

// BenchmarkDispatch measures tasks a second, each sent and reported, one an
// RPC, with 32 clients at a time; every answer is on disk before it leaves.
func BenchmarkDispatch(b *testing.B) {
	dir := filepath.Join(b.TempDir(), "p")
	ctx, now := b.Context(), time.Now()
	check := func(err error) {
		if err != nil {
			b.Fatal(err)
		}
	}
	check(server.Init(ctx, dir, "Bench", master))
	p, err := server.Open(ctx, dir, slog.New(slog.DiscardHandler))
	check(err)
	defer p.Close()
	p.Config.MinSendworkInterval, p.Config.DailyResultQuota = 0, 0
	h, err := p.Handler(func() {})
	check(err)
	check(p.AddApp(ctx, server.NewApp{Name: "a", Validator: "trivial", Assimilator: "copy"}, now))
	check(p.AddVersion(ctx, server.NewVersion{App: "a", Platform: "x86_64-pc-linux-gnu", Number: "1.00", Main: "bench_test.go"}, now))
	key, err := p.AddUser(ctx, "a@example.org", "", "", now)
	check(err)
	g, err := p.Generator(ctx, "a", now)
	check(err)
	const tasks, clients = 10_000, 32
	for range tasks / 1000 {
		_, err := g.Create(ctx, make([]workgen.Spec, 1000), now)
		check(err)
	}
	check(p.RunOnce(ctx, now))
	var done atomic.Int64
	for b.Loop() {
		var wg sync.WaitGroup
		for i := range clients {
			wg.Go(func() {
				req := protocol.SchedulerRequest{
					Authenticator: key, Client: protocol.Version{Major: 7, Minor: 20}, CPUReqSeconds: 1,
					Platform: "x86_64-pc-linux-gnu", Host: protocol.HostInfo{DomainName: fmt.Sprint(i), HostCPID: fmt.Sprint(i), NCPUs: 4, Fpops: 1e9},
				}
				for range tasks / clients / 4 {
					rec := httptest.NewRecorder()
					h.ServeHTTP(rec, httptest.NewRequest("POST", master+"cgi", bytes.NewReader(req.Encode())))
					reply, err := protocol.ParseSchedulerReply(rec.Body.Bytes())
					if err != nil {
						b.Error(err)
						return
					}
					if req.RPCSeqno++; reply.HostID != 0 {
						req.HostID, req.RPCSeqno = reply.HostID, 1
					}
					req.Results = nil
					for _, r := range reply.Results {
						req.Results = append(req.Results, protocol.ReportedResult{Name: r.Name, State: protocol.ClientUploaded})
						done.Add(1)
					}
				}
			})
		}
		wg.Wait()
	}
	b.ReportMetric(float64(done.Load())/b.Elapsed().Seconds(), "tasks/s")
}
