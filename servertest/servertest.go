// Package servertest runs a whole project within a test: Starling's server with its scheduler,
// database and daemons, volunteers that compute Go functions, and, if wanted, the real agent with
// real programs. It is for developers of programs that submit work, validate it or take its
// results, and for developers of clients.
//
//	func TestPipeline(t *testing.T) {
//		p := servertest.Start(t)
//		p.App("upper", func(_ context.Context, task *servertest.Task) error {
//			task.Output("out", bytes.ToUpper(task.Input("in")))
//			return nil
//		})
//		p.Volunteer("ada")
//		done := p.Submit("upper", []byte("hello")).Wait(t.Context())
//		if string(done.Files["out"]) != "HELLO" {
//			t.Error(done)
//		}
//	}
//
// Only the volunteers are simulated: they use BOINC's protocol over HTTP on loopback, and real
// clients may attach to Project.URL as well. A first result takes some tenths of a second. The
// project has a separate folder, which is an ordinary project directory: starling-server's commands
// work on it while the test runs.
package servertest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"time"

	"github.com/starling-grid/starling/agent"
	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/server"
	"github.com/starling-grid/starling/server/fault"
	"github.com/starling-grid/starling/server/operate"
	"github.com/starling-grid/starling/server/project"
)

// TB has the methods of a testing.TB that are needed. NoTest implements it for programs.
type TB interface {
	Helper()
	Context() context.Context
	TempDir() string
	Cleanup(func())
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// An Option changes how a project is made.
type Option func(*options)

type options struct {
	new      operate.NewProject
	settings [][2]string
	log      *slog.Logger
	faults   string
	seed     uint64
}

// Database has the project on PostgreSQL. The database at the URL must be empty.
func Database(url string) Option { return func(o *options) { o.new.Database = url } }

// Files has its files in a bucket: s3://….
func Files(place string) Option { return func(o *options) { o.new.Files = place } }

// Setting changes a setting of server.toml, as Setting("daily_result_quota", "8"). value is in
// TOML. Tests do not pause between requests (min_sendwork_interval = 0) unless they set a pause.
func Setting(name, value string) Option {
	return func(o *options) { o.settings = append(o.settings, [2]string{name, value}) }
}

// Faults makes requests fail at random, such as "lose-reply=0.1,5xx=0.05,cut=0.1,slow=50ms": see
// starling-server dev --help. Volunteers and agents repeat requests that failed. The same seed
// causes the same faults for the same requests.
func Faults(faults string, seed uint64) Option {
	return func(o *options) { o.faults, o.seed = faults, seed }
}

// Log sets the logger of the server. Without it nothing is logged.
func Log(l *slog.Logger) Option { return func(o *options) { o.log = l } }

// A Project is a project that is being served. Its methods are for the test's goroutine. They end
// the test if something goes wrong that is not the test's subject.
type Project struct {
	URL string // to which clients attach
	Dir string // the project's directory

	tb   TB
	p    *project.Project
	ctx  context.Context // until the test ends
	work sync.WaitGroup

	agents []*agent.Agent
	faulty bool // requests meet faults

	mu   sync.Mutex
	apps map[string]Func
}

// Start makes a project, with no application and no account yet, and serves it on a port of
// this computer until the test ends.
func Start(tb TB, opts ...Option) *Project {
	tb.Helper()
	o := options{log: slog.New(slog.DiscardHandler), settings: [][2]string{{"min_sendwork_interval", "0"}}}
	o.new.Name = "Test"
	for _, f := range opts {
		f(&o)
	}
	p := &Project{tb: tb, Dir: filepath.Join(tb.TempDir(), "project"), apps: make(map[string]Func), faulty: o.faults != ""}
	faults, err := fault.Parse(o.faults)
	p.check(err)
	l, err := new(net.ListenConfig).Listen(tb.Context(), "tcp", "127.0.0.1:0")
	p.check(err)
	p.URL = "http://" + l.Addr().String() + "/test/"
	o.new.MasterURL = p.URL
	err = operate.Init(tb.Context(), p.Dir, o.new)
	if err == nil {
		err = set(filepath.Join(p.Dir, "server.toml"), o.settings)
	}
	if err == nil {
		p.p, err = project.Open(tb.Context(), p.Dir, o.log)
	}
	if err != nil {
		_ = l.Close()
		p.check(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(tb.Context())) // Context ends before cleanups
	p.ctx = ctx
	served := make(chan error, 1)
	srv := server.New(p.p, server.Part{})
	if p.faulty {
		srv.Before = func(next http.Handler) http.Handler { return fault.Handler(next, faults, o.seed, o.log) }
	}
	go func() { served <- srv.Serve(ctx, l) }()
	tb.Cleanup(func() {
		stop()
		p.work.Wait()
		if err := errors.Join(<-served, p.p.Close()); err != nil {
			tb.Errorf("the project's server: %v", err)
		}
	})
	return p
}

// set changes settings in a file that has a line for each.
func set(name string, settings [][2]string) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	for _, s := range settings {
		line := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(s[0]) + ` = .*$`)
		if !line.Match(text) {
			return fmt.Errorf("server.toml has no setting %q", s[0])
		}
		text = line.ReplaceAllLiteral(text, []byte(s[0]+" = "+s[1]))
	}
	return os.WriteFile(name, text, 0o600)
}

// Account makes an account and returns its authenticator, with which clients attach.
func (p *Project) Account(email string) string {
	p.tb.Helper()
	key, err := operate.AddUser(p.tb.Context(), p.p, email, "", "", time.Now())
	p.check(err)
	return string(key)
}

// step makes the results of added workunits, at once, and makes agents ask for them. Otherwise the
// server looks for such workunits each second, and agents that got no work ask again after ten
// minutes.
func (p *Project) step() {
	p.tb.Helper()
	p.check(server.New(p.p, server.Part{Roles: []string{"transitioner"}}).RunOnce(p.ctx, time.Now()))
	for _, a := range p.agents {
		p.check(a.SteerProject(p.ctx, p.URL, control.UpdateProject))
	}
}

func (p *Project) check(err error) {
	p.tb.Helper()
	if err != nil {
		p.tb.Fatalf("servertest: %v", err)
	}
}
