package e2e_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/agent/hostinfo"
	"github.com/starling-grid/starling/internal/testerr"
	"github.com/starling-grid/starling/internal/testhost"
)

var bin testhost.Bin

func TestMain(m *testing.M) {
	flag.Parse()
	_ = os.Setenv("LC_ALL", "C") // tests read English texts
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given { // tests mostly wait for each other's programs
		_ = flag.Set("test.parallel", fmt.Sprint(2*runtime.GOMAXPROCS(0)))
	}
	if bin = testhost.Bin(os.Getenv("STARLING_BIN")); bin != "" { // for machines where nothing can be built
		os.Exit(m.Run())
	}
	dir, err := os.MkdirTemp("", "starling-e2e-")
	if err == nil {
		bin, err = testhost.Build(context.Background(), dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// patience bounds a whole test, and only one that hangs lasts as long. No test waits just for time to
// pass.
func patience(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// onDemand skips a test unless an environment variable is set, which a target of the Makefile does.
func onDemand(t *testing.T, variable, target string) {
	t.Helper()
	if os.Getenv(variable) == "" {
		t.Skip("make " + target + " runs it")
	}
}

// newProject makes a project with the Mersenne application.
func newProject(t *testing.T, ctx context.Context) *testhost.Project {
	t.Helper()
	return newProjectIn(t, ctx, filepath.Join(t.TempDir(), "project"))
}

func newProjectIn(t *testing.T, ctx context.Context, dir string) *testhost.Project {
	t.Helper()
	p, err := testhost.NewProject(ctx, bin, dir, "e2e")
	must(t, err)
	publish(t, ctx, p, "mersenne", "--main", bin.Path(testhost.Mersenne))
	return p
}

// emptyProject makes a project without applications.
func emptyProject(t *testing.T, ctx context.Context, name string) *testhost.Project {
	t.Helper()
	p, err := testhost.NewProject(ctx, bin, filepath.Join(t.TempDir(), name), name)
	must(t, err)
	return p
}

// publish adds an application with a version for this computer.
func publish(t *testing.T, ctx context.Context, p *testhost.Project, app string, options ...string) {
	t.Helper()
	platform, _ := hostinfo.Platform()
	run(t, ctx, p, "app", "add", p.Dir, app)
	run(t, ctx, p, append([]string{"version", "add", p.Dir, app, "--platform", platform, "--version", "1.00"}, options...)...)
}

// job creates a workunit, which is due in a day.
func job(t *testing.T, ctx context.Context, p *testhost.Project, app, name string, options ...string) {
	t.Helper()
	run(t, ctx, p, append([]string{
		"work", "create", p.Dir, app, "--name", name, "--rsc-fpops-est", "1e10", "--rsc-fpops-bound", "1e16", "--delay-bound", "86400",
	}, options...)...)
}

// written writes a file, which may be a script, into a new folder, and returns its path.
func written(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	must(t, os.WriteFile(path, []byte(text), 0o700))
	return path
}

// serve starts the server and makes sure that it is stopped at the end.
func serve(t *testing.T, ctx context.Context, p *testhost.Project) {
	t.Helper()
	must(t, p.Serve(ctx))
	t.Cleanup(func() {
		if err := p.Stop(); err != nil {
			t.Error(err)
		}
		showLog(t, p.Dir+".log")
	})
	must(t, p.AwaitResults(ctx))
}

func run(t *testing.T, ctx context.Context, p *testhost.Project, args ...string) string {
	t.Helper()
	out, err := p.Run(ctx, args...)
	must(t, err)
	return out
}

// newAgent makes an agent that uses one CPU and writes checkpoints often.
func newAgent(t *testing.T, name string) *testhost.Agent {
	t.Helper()
	return newAgentWith(t, name, "log_level = \"debug\"\n")
}

// newSteered makes an agent that BOINC's tools can reach, and returns its port.
func newSteered(t *testing.T, name string) (a *testhost.Agent, port int) {
	t.Helper()
	port = freePort(t)
	return newAgentWith(t, name, fmt.Sprintf("gui_rpc_port = %d\n", port)), port
}

func newAgentWith(t *testing.T, name, settings string) *testhost.Agent {
	t.Helper()
	return configured(t, name, "disk_interval = 1\n", "ncpus = 1\n"+settings)
}

// configured makes an agent with preferences and settings, and makes sure that it is stopped at the end.
func configured(t *testing.T, name, prefs, settings string) *testhost.Agent {
	t.Helper()
	a, err := testhost.NewAgent(bin, filepath.Join(t.TempDir(), name), prefs, settings)
	must(t, err)
	t.Cleanup(func() { end(t, a) })
	return a
}

func freePort(t *testing.T) int {
	t.Helper()
	port, err := testhost.FreePort()
	must(t, err)
	return port
}

// end stops an agent. If its test has failed, it first prints the agent's reasons for its
// decisions.
func end(t *testing.T, a *testhost.Agent) {
	if t.Failed() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second) // the test's has ended
		defer cancel()
		why, err := a.Run(ctx, "why")
		t.Logf("why: %s, %v", why, err)
	}
	if err := a.Stop(); err != nil {
		t.Error(err)
	}
	showLog(t, a.Log())
}

func startAgent(t *testing.T, ctx context.Context, a *testhost.Agent, p *testhost.Project) {
	t.Helper()
	must(t, a.Start())
	must(t, a.Attach(ctx, p))
}

// showLog adds a program's log to the output of a test that failed.
func showLog(t *testing.T, name string) {
	t.Helper()
	if !t.Failed() {
		return
	}
	b, err := os.ReadFile(name)
	if err != nil {
		t.Log(err)
		return
	}
	lines := strings.Split(string(b), "\n")
	t.Logf("%s:\n%s", name, strings.Join(lines[max(0, len(lines)-60):], "\n"))
}

// work creates one workunit for each of the exponents.
func work(t *testing.T, ctx context.Context, p *testhost.Project, quorum int, exponents ...int) {
	t.Helper()
	workWith(t, ctx, p, quorum, nil, exponents...)
}

// slowly returns options of workWith: the application pauses at each step of an exponent. The task
// then takes a known time on every computer, and leaves the processors to other tests.
func slowly(pause time.Duration) []string { return []string{"--cmdline", fmt.Sprint("-pause ", pause)} }

// lasting is the workunit of lastingWork.
const lasting = "m4423"

// lastingWork creates a workunit that takes 15 minutes, for tests of a running task, which end before
// the task does.
func lastingWork(t *testing.T, ctx context.Context, p *testhost.Project, quorum int) {
	t.Helper()
	workWith(t, ctx, p, quorum, slowly(200*time.Millisecond), 4423)
}

// workWith creates work with further arguments of the command.
func workWith(t *testing.T, ctx context.Context, p *testhost.Project, quorum int, more []string, exponents ...int) {
	t.Helper()
	for _, e := range exponents {
		in := written(t, fmt.Sprintf("exponent_%d", e), fmt.Sprintln(e))
		job(t, ctx, p, "mersenne", fmt.Sprintf("m%d", e), append([]string{
			"--input", in + "=in", "--target-nresults", fmt.Sprint(quorum), "--min-quorum", fmt.Sprint(quorum),
			"--max-error", "3", "--max-total", "9", "--max-success", "6",
		}, more...)...)
	}
}

// creditedOnce checks the end of a project: every workunit has its canonical result and the right
// outcome, and every result of the quorum got credit once.
func creditedOnce(t *testing.T, ctx context.Context, p *testhost.Project, quorum int, exponents ...int) {
	t.Helper()
	c, err := p.AwaitDone(ctx)
	if err != nil {
		late, cancel := context.WithTimeout(context.WithoutCancel(ctx), 20*time.Second) // the test's has ended
		defer cancel()
		for _, e := range exponents {
			story, _ := p.Run(late, "work", "show", p.Dir, fmt.Sprintf("m%d", e))
			t.Log(story)
		}
		t.Fatal(err)
	}
	n := int64(len(exponents))
	if c.Workunits.Canonical != n || c.Workunits.Assimilated != n || c.Workunits.Error != 0 {
		t.Errorf("workunits: %+v, want %d with a canonical result", c.Workunits, n)
	}
	if c.Results.Granted != n*int64(quorum) || c.Credit <= 0 {
		t.Errorf("%d results got credit %v, want %d", c.Results.Granted, c.Credit, n*int64(quorum))
	}
	for _, e := range exponents {
		b, err := p.Outcome(ctx, fmt.Sprintf("m%d", e), "out")
		if want := fmt.Sprintf("M%d is prime!\n", e); err != nil || string(b) != want {
			t.Errorf("the outcome is %q, %v; want %q", b, err, want)
		}
	}
	run(t, ctx, p, "doctor", p.Dir)
}

var must = testerr.Must
