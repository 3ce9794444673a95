package e2e_test

import (
	"bytes"
	"context"
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/starling-grid/starling/internal/testhost"
	"github.com/starling-grid/starling/internal/testpg"
	"github.com/starling-grid/starling/internal/testwait"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server"
	"github.com/starling-grid/starling/server/operate"
	"github.com/starling-grid/starling/server/project"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/workgen"
)

const masterURL = "http://127.0.0.1:8080/demo/" // this port is unused: each process has a separate one

// A cluster is a project with two processes of each role.
type cluster struct {
	t     *testing.T
	p     *project.Project
	ports map[string]int // of running processes, by role and shard
	procs map[string]*testhost.Process

	outage bool // whether the database goes down for a while
}

func newCluster(t *testing.T, database string) *cluster {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "p")
	ctx, now := t.Context(), time.Now()
	c := &cluster{t: t, ports: make(map[string]int), procs: make(map[string]*testhost.Process)}
	c.must(operate.Init(ctx, dir, operate.NewProject{Name: "Cluster", MasterURL: masterURL, Database: database}))
	settings := filepath.Join(dir, "server.toml")
	text, err := os.ReadFile(settings)
	c.must(err)
	text = bytes.Replace(text, []byte("min_sendwork_interval = 6"), []byte("min_sendwork_interval = 0"), 1)
	text = bytes.Replace(text, []byte("delete_delay_hours = 24"), []byte("delete_delay_hours = 0"), 1)
	text = bytes.Replace(text, []byte("daily_result_quota = 100"), []byte("daily_result_quota = 0"), 1)
	c.must(os.WriteFile(settings, text, 0o600))
	c.p, err = project.Open(ctx, dir, slog.New(slog.DiscardHandler))
	c.must(err)
	t.Cleanup(func() { _ = c.p.Close() })
	program := filepath.Join(t.TempDir(), "program")
	c.must(os.WriteFile(program, []byte("#!/bin/sh\n"), 0o600))
	c.must(operate.AddApp(ctx, c.p, operate.NewApp{Name: "a", Validator: "bitwise", Assimilator: "exec:tee -a taken"}, now))
	c.must(operate.AddVersion(ctx, c.p, operate.NewVersion{App: "a", Platform: "x86_64-pc-linux-gnu", Number: "1.00", Main: program}, now))
	return c
}

func (c *cluster) must(err error) {
	c.t.Helper()
	if err != nil {
		c.t.Fatal(err)
	}
}

// start starts a process of a role, on the port that it had before.
func (c *cluster) start(role string, shard int) {
	c.t.Helper()
	name := fmt.Sprint(role, shard)
	if c.ports[name] == 0 {
		port, err := testhost.FreePort()
		c.must(err)
		c.ports[name] = port
	}
	proc, err := testhost.Start(c.p.Dir+"."+name+".log", bin.Path("starling-server"), "serve", c.p.Dir, "--roles", role,
		"--shard", fmt.Sprintf("%d/2", shard), "--listen", fmt.Sprint("127.0.0.1:", c.ports[name]))
	c.must(err)
	c.procs[name] = proc
}

func (c *cluster) stop() {
	for name, p := range c.procs {
		if err := p.Stop(testhost.Grace); err != nil {
			c.t.Errorf("%s: %v", name, err)
		}
		showLog(c.t, c.p.Dir+"."+name+".log")
	}
}

func (c *cluster) status() store.Status {
	c.t.Helper()
	st, err := c.look()
	c.must(err)
	return st
}

// look returns the status, unless the database is down.
func (c *cluster) look() (st store.Status, err error) {
	st, err = store.Read(c.t.Context(), c.p.Store, func(tx *store.View) (store.Status, error) { return tx.Status(0) })
	return st, err
}

// await waits until the project reaches a state.
func (c *cluster) await(ctx context.Context, what string, reached func(store.Status) bool) {
	c.t.Helper()
	testwait.Try(c.t, ctx, what, func() error {
		st, err := c.look()
		if err == nil && !reached(st) {
			err = fmt.Errorf("not reached: %+v", st)
		}
		return err
	})
}

// A volunteer is a computer that reports the tasks that it gets until there are none left. It asks
// any of the processes and, if one does not answer, another.
type volunteer struct {
	c     *cluster
	req   protocol.SchedulerRequest
	files map[string]protocol.FileInfo
	todo  []protocol.Result // not uploaded
	acked []string          // results whose report was acknowledged
	turn  int
}

func (v *volunteer) run(ctx context.Context) error {
	for ctx.Err() == nil {
		v.turn++
		if err := v.contact(ctx); err != nil {
			continue // that process is gone, so the request is repeated elsewhere
		}
		for len(v.todo) > 0 && ctx.Err() == nil {
			v.turn++
			r := v.todo[0]
			refused, err := v.upload(ctx, v.files[r.FileRefs[0].FileName])
			if refused != nil {
				return refused
			}
			if err != nil {
				continue
			}
			v.todo = v.todo[1:]
			v.req.Results = append(v.req.Results, protocol.ReportedResult{Name: r.Name, State: protocol.ClientUploaded})
		}
	}
	return nil
}

// contact reports finished tasks and fetches more.
func (v *volunteer) contact(ctx context.Context) error {
	body, err := v.post(ctx, "scheduler", "cgi", bytes.NewReader(v.req.Encode()))
	if err != nil {
		return err
	}
	reply, err := protocol.ParseSchedulerReply(body)
	if err != nil {
		return err
	}
	if v.req.RPCSeqno++; reply.HostID != 0 {
		v.req.HostID, v.req.RPCSeqno = reply.HostID, 1
	}
	v.acked = append(v.acked, reply.ResultAcks...)
	v.req.Results = slices.DeleteFunc(v.req.Results, func(r protocol.ReportedResult) bool { return slices.Contains(reply.ResultAcks, r.Name) })
	for _, f := range reply.Files {
		v.files[f.Name] = f
	}
	v.todo = append(v.todo, reply.Results...)
	return nil
}

func (v *volunteer) upload(ctx context.Context, f protocol.FileInfo) (refused, err error) {
	const data = "42\n"
	sum := md5.Sum([]byte(data))
	head := protocol.UploadRequest{
		Name: f.Name, XMLSignature: f.XMLSignature, MaxNBytes: f.MaxNBytes, NBytes: int64(len(data)), MD5: hex.EncodeToString(sum[:]),
	}.Encode()
	body, err := v.post(ctx, "upload", "file_upload_handler", io.MultiReader(bytes.NewReader(head), strings.NewReader(data)))
	if err != nil {
		return nil, err
	}
	reply, err := protocol.ParseUploadReply(body)
	if err == nil && reply.Status != 0 {
		refused = fmt.Errorf("upload of %s: %+v", f.Name, reply)
	}
	return refused, err
}

func (v *volunteer) post(ctx context.Context, role, path string, body io.Reader) ([]byte, error) {
	url := fmt.Sprintf("http://127.0.0.1:%d/demo/%s", v.c.ports[fmt.Sprint(role, v.turn%2)], path)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, body)
	if err != nil {
		return nil, err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, errors.New(res.Status)
	}
	return io.ReadAll(res.Body)
}

// Two processes of each role share the work on PostgreSQL. Some are killed in the middle of it and
// started again later: nothing is lost, and nothing is done twice.
func TestProcessesShareTheWork(t *testing.T) {
	ctx := patience(t)
	c := newCluster(t, testpg.Start(t).Database(t))
	const n = 300
	c.work(ctx, n, func() {
		killed := []string{"transitioner0", "validator0", "filedeleter0", "scheduler0", "upload0"}
		c.await(ctx, "a quarter", func(st store.Status) bool { return st.Workunits.Canonical >= n/4 })
		for _, name := range killed {
			c.procs[name].Kill()
		}
		c.await(ctx, "all that is left to do without them", func(st store.Status) bool { return st.Workunits.Canonical >= n/2 })
		for _, name := range killed {
			c.start(strings.TrimSuffix(name, "0"), 0)
		}
	})
}

// work makes volunteers do n workunits at a quorum of two while disturb runs, and checks that
// nothing is lost and nothing is done twice.
func (c *cluster) work(ctx context.Context, n int64, disturb func()) {
	t := c.t
	t.Helper()
	const quorum, users, hosts = 2, 4, 8
	g, err := operate.Generator(ctx, c.p, "a", time.Now())
	c.must(err)
	specs := make([]workgen.Spec, n)
	for i := range specs {
		specs[i] = workgen.Spec{Params: workgen.Params{MinQuorum: quorum, TargetNResults: quorum, MaxTotalResults: 4, MaxSuccessResults: 4}}
	}
	names, err := g.Create(ctx, specs, time.Now())
	c.must(err)
	for _, role := range server.Roles {
		c.start(role, 0)
		c.start(role, 1)
	}
	t.Cleanup(c.stop)

	working, enough := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer enough()
	var failed atomic.Value
	keys := make([]protocol.Authenticator, users)
	for i := range keys {
		keys[i], err = operate.AddUser(ctx, c.p, fmt.Sprintf("user%d@example.org", i), "", "", time.Now())
		c.must(err)
	}
	volunteers := make([]*volunteer, hosts)
	for i := range hosts {
		v := &volunteer{c: c, turn: i, files: make(map[string]protocol.FileInfo), req: protocol.SchedulerRequest{
			Authenticator: keys[i%users], Client: protocol.Version{Major: 7, Minor: 20}, Platform: "x86_64-pc-linux-gnu", CPUReqSeconds: 1,
			Host: protocol.HostInfo{DomainName: fmt.Sprint(i), HostCPID: fmt.Sprint(i), NCPUs: 1, Fpops: 1e9},
		}}
		volunteers[i] = v
		wg.Go(func() {
			if err := v.run(working); err != nil {
				failed.Store(err)
			}
		})
	}

	disturb()
	c.await(ctx, "the end", func(st store.Status) bool {
		return st.Done && st.Workunits.FilesDeleted == n && st.Results.WaitingFileDelete == 0
	})
	enough()
	wg.Wait()
	if err, ok := failed.Load().(error); ok {
		t.Error(err)
	}

	st := c.status()
	if st.Workunits.Canonical != n || st.Results.Total != n*quorum || st.Results.Granted != n*quorum {
		t.Errorf("got %+v\nand %+v, want %d workunits of %d results each, all with credit", st.Workunits, st.Results, n, quorum)
	}
	if got := c.taken(); int64(len(got)) != n {
		t.Errorf("%d workunits were assimilated, want %d", len(got), n)
	} else {
		for _, name := range names {
			// A program is called again if its end could not be recorded because the database was
			// down.
			if got[name] != 1 && (!c.outage || got[name] != 2) {
				t.Errorf("%s was assimilated %d times", name, got[name])
			}
		}
	}
	c.must(c.p.Store.View(ctx, func(tx *store.View) error {
		for _, v := range volunteers {
			for _, name := range v.acked {
				r, err := tx.ResultByName(name)
				if err != nil || r.ServerState != store.Over || r.Outcome != store.Success {
					t.Errorf("%s, whose report was acknowledged: %v, %v, %v", name, r.ServerState, r.Outcome, err)
				}
			}
		}
		wrong, err := tx.Doctor()
		for _, s := range wrong {
			t.Error(s)
		}
		return err
	}))
}

// taken counts how often the assimilator's program was given each workunit.
func (c *cluster) taken() map[string]int {
	c.t.Helper()
	f, err := os.Open(filepath.Join(c.p.Dir, "taken"))
	c.must(err)
	defer f.Close()
	got := make(map[string]int)
	for d := json.NewDecoder(f); ; {
		var x struct {
			Workunit struct {
				Name string `json:"name"`
			} `json:"workunit"`
		}
		err := d.Decode(&x)
		if errors.Is(err, io.EOF) {
			return got
		}
		c.must(err)
		got[x.Workunit.Name]++
	}
}
