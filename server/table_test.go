package server_test

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/shirou/gopsutil/v3/process"

	"github.com/starling-grid/starling/internal/testhost"
	"github.com/starling-grid/starling/internal/testpg"
	"github.com/starling-grid/starling/internal/testprogram"
	"github.com/starling-grid/starling/internal/testwait"
	"github.com/starling-grid/starling/server"
)

var (
	benchRuns  = flag.Int("bench.runs", 3, "runs of each line of BenchmarkTable")
	benchLines = flag.String("bench.lines", "", "regular expression of the lines of BenchmarkTable to run, as \"PostgreSQL: scheduler alone\"")
	benchOther = flag.String("bench.other", "", "path of another starling-server, which each line of BenchmarkTable that starts one runs in turn")
)

// Bounds of one run of the load generator.
const (
	runTime  = 6 * time.Second
	runTasks = 8000
)

// A run has the measurements of one run of a line. Values that were not measured are 0.
type run struct {
	tasks        float64 // a second
	median, p99  float64 // latency, milliseconds
	server       float64 // processor seconds of 1000 tasks
	db           float64 // likewise, of PostgreSQL
	generator    float64 // likewise
	busy         float64 // part of the computer's processors that was in use
	syncs        float64 // of the disk, for 1000 tasks
	sync         float64 // seconds that one takes
	memory       float64 // MB that servers have resident in the end
	sharedInside bool    // server and generator are one process
}

// A line is one row of the table.
type line struct {
	name string
	run  func() run
	runs []run
}

// BenchmarkTable prints the speed of a project's server as one table. It uses separate processes,
// half a million results in the database, and a load generator that sends the same requests as
// BOINC's clients. All lines are run in turn, -bench.runs times.
func BenchmarkTable(b *testing.B) {
	bin := filepath.Join(b.TempDir(), "starling-server")
	must(b, testprogram.Build(b.Context(), filepath.Dir(bin), nil, "cmd/starling-server"))
	lines, lite := linesOf(b, bin, nil)
	more, postgres := linesOf(b, bin, onPostgres(b))
	lines = append(lines, more...)
	chosen, err := regexp.Compile(*benchLines)
	must(b, err)
	lines = slices.DeleteFunc(lines, func(l line) bool { return !chosen.MatchString(l.name) })
	for i := range *benchRuns {
		for j := range lines {
			l := &lines[j]
			r := l.run()
			fmt.Fprintf(os.Stderr, "%s, run %d of %d: %.0f tasks/s\n", l.name, i+1, *benchRuns, r.tasks)
			l.runs = append(l.runs, r)
		}
		if left := *benchRuns - i - 1; left > 0 { // for a reader who does not want to wait
			fmt.Fprintf(os.Stderr, "\nSo far, with %d more to come:\n", left)
			_ = writeTable(os.Stderr, lines)
		}
	}
	for _, full := range []*bench{lite, postgres} {
		if full.full {
			full.stillFull()
		}
	}
	fmt.Println()
	must(b, writeTable(os.Stdout, lines))
}

// linesOf makes the lines of one kind of database, and the full bench that they use.
func linesOf(b *testing.B, bin string, pg *testpg.Server) (lines []line, full *bench) {
	b.Helper()
	full, fresh := newBench(b), newBench(b)
	add := func(name string, f func() run) { lines = append(lines, line{name: full.store + ": " + name, run: f}) }
	for _, jobs := range []int{1, 10} {
		for _, s := range []struct{ name, roles string }{{"whole server", ""}, {"scheduler alone", "web,scheduler,upload"}} {
			name := fmt.Sprintf("%s, jobs in a request: %d", s.name, jobs)
			add(name, func() run { return full.measure(bin, pg, trial{roles: s.roles, jobs: jobs}) })
			if *benchOther != "" {
				add(name+", other server", func() run { return full.measure(*benchOther, pg, trial{roles: s.roles, jobs: jobs}) })
			}
		}
	}
	add("whole server with uploads, jobs in a request: 10", func() run { return full.measure(bin, pg, trial{jobs: 10, upload: true}) })
	for _, n := range []int{2, 4} {
		if pg == nil {
			break // one process writes
		}
		add(fmt.Sprintf("scheduler alone, %d processes, jobs in a request: 1", n), func() run {
			return full.measure(bin, pg, trial{roles: "web,scheduler,upload", jobs: 1, servers: n})
		})
	}
	turn := func(x *bench, f func(x *bench) spent) func() run {
		return func() run { return run{tasks: share / f(x).time.Seconds(), sharedInside: true} }
	}
	add("workunits created", turn(fresh, (*bench).makeWorkunits))
	add("results made", turn(fresh, (*bench).makeResults))
	add("from the report to deleted files", turn(fresh, (*bench).finish))
	return lines, full
}

// A trial has the parameters for one run of a line.
type trial struct {
	roles   string // of each server
	servers int    // processes (0: one)
	jobs    int
	upload  bool
}

// measure starts the server as a program, or several of them, and drives it with another. The
// database is full.
func (x *bench) measure(bin string, pg *testpg.Server, t trial) run {
	x.tb.Helper()
	x.fill()
	ctx := x.tb.Context()
	if t.upload {
		x.create(upper, runTasks/2+(clients+100)*t.jobs, 1)
		x.check(server.New(x.p, server.Part{}).RunOnce(ctx, time.Now()))
	}
	addresses := []string{x.p.Config.ListenAddr()}
	for len(addresses) < t.servers {
		port, err := testhost.FreePort()
		x.check(err)
		addresses = append(addresses, fmt.Sprintf("127.0.0.1:%d", port))
	}
	one := "scheduler_urls = []"
	all := fmt.Sprintf("scheduler_urls = [\"%s\"]", strings.Join(x.schedulers(addresses), `", "`))
	editSettings(x.tb, x.p.Dir, one, all)
	defer editSettings(x.tb, x.p.Dir, all, one)
	var servers []*testhost.Process
	var pids []int
	for i, a := range addresses {
		srv, err := testhost.Start(fmt.Sprintf("%s.%d.log", x.p.Dir, i), bin, "serve", x.p.Dir, "--roles", t.roles, "--listen", a)
		x.check(err)
		x.await(srv, a)
		servers, pids = append(servers, srv), append(pids, srv.PID())
	}
	if len(servers) > 1 {
		x.acquainted(len(servers))
	}
	if pg != nil {
		pids = append(pids, pg.PID(x.tb))
	}
	args := []string{
		"load", x.p.Config.MasterURL, "--key", string(x.user), "--json", "--platforms", mix, "--connections", fmt.Sprint(clients),
		"--jobs", fmt.Sprint(t.jobs), "--duration", runTime.String(), "--tasks", fmt.Sprint(runTasks), "--pid", strings.Trim(fmt.Sprint(pids), "[]"),
	}
	args[len(args)-1] = strings.ReplaceAll(args[len(args)-1], " ", ",")
	if t.upload {
		args = append(args, "--upload")
	}
	before := x.syncs()
	out, err := exec.CommandContext(ctx, bin, args...).Output()
	after := x.syncs()
	if failed, ok := err.(*exec.ExitError); ok { //nolint:errorlint // as Output returns it
		x.tb.Fatalf("load: %v\n%s\n%s", err, failed.Stderr, out)
	}
	x.check(err)
	memory := 0.0
	for _, srv := range servers {
		memory += x.resident(srv.PID())
		x.check(srv.Stop(testhost.Grace))
	}
	x.settle() // so that the next run starts even
	r, tasks := parse(x.tb, out, pids[:len(servers)], pids[len(servers):], t.jobs)
	r.syncs, r.sync, r.memory = float64(after-before)/tasks*1000, x.syncTime(), memory
	return r
}

// resident returns the memory of a process in MB.
func (x *bench) resident(pid int) float64 {
	x.tb.Helper()
	p, err := process.NewProcess(int32(pid))
	x.check(err)
	m, err := p.MemoryInfo()
	x.check(err)
	return float64(m.RSS) / 1e6
}

// schedulers are the addresses of the scheduler behind each of several that servers listen on.
func (x *bench) schedulers(listen []string) []string {
	out := make([]string, len(listen))
	for i, a := range listen {
		out[i] = strings.Replace(x.p.Config.MasterURL, x.p.Config.ListenAddr(), a, 1) + "cgi"
	}
	return out
}

// await waits until a server answers.
func (x *bench) await(srv *testhost.Process, listen string) {
	x.tb.Helper()
	testwait.Until(x.tb, "the server to answer at "+listen, func() bool {
		select {
		case <-srv.Done():
			log, _ := os.ReadFile(x.p.Dir + ".log")
			x.tb.Fatalf("the server ended:\n%s", log)
		default:
		}
		res, err := http.Get("http://" + listen) //nolint:noctx // on this computer
		if err == nil {
			_ = res.Body.Close()
		}
		return err == nil
	})
}

// parse reads the load generator's report. tasks is the total number dispatched.
func parse(tb testing.TB, out []byte, servers, db []int, jobs int) (r run, tasks float64) {
	tb.Helper()
	type counts struct {
		Dispatched float64
		Requests   float64
		Errors     map[string]int
		Latency    struct {
			Median float64 `json:"median_ms"`
			P99    float64 `json:"p99_ms"`
		}
	}
	var j struct {
		Rate         float64 `json:"tasks_per_second"`
		Registration counts
		Measured     counts
		CPU          struct {
			Generator float64
			Processes map[int]float64
			Busy      float64 `json:"machine_busy"`
		} `json:"cpu_seconds"`
	}
	if err := json.Unmarshal(out, &j); err != nil {
		tb.Fatalf("%v in %s", err, out)
	}
	m := j.Measured
	if len(m.Errors) > 0 {
		tb.Errorf("errors: %v", m.Errors)
	}
	if each := m.Dispatched / m.Requests; each < 0.8*float64(jobs) {
		tb.Errorf("%.1f tasks with each request, want %d", each, jobs)
	}
	k := m.Dispatched / 1000
	r = run{
		tasks: j.Rate, median: m.Latency.Median, p99: m.Latency.P99, busy: j.CPU.Busy,
		generator: j.CPU.Generator / k,
	}
	for _, pid := range servers {
		r.server += j.CPU.Processes[pid] / k
	}
	for _, pid := range db {
		r.db += j.CPU.Processes[pid] / k
	}
	return r, m.Dispatched + j.Registration.Dispatched
}

// middle returns the median of the values that get returns for the runs.
func middle(runs []run, get func(r run) float64) float64 {
	var v []float64
	for _, r := range runs {
		v = append(v, get(r))
	}
	slices.Sort(v)
	n := len(v)
	return (v[(n-1)/2] + v[n/2]) / 2
}

// typical has the median of each number.
func typical(runs []run) run {
	m := func(get func(r run) float64) float64 { return middle(runs, get) }
	return run{
		tasks: m(func(r run) float64 { return r.tasks }), median: m(func(r run) float64 { return r.median }),
		p99: m(func(r run) float64 { return r.p99 }), server: m(func(r run) float64 { return r.server }),
		db: m(func(r run) float64 { return r.db }), generator: m(func(r run) float64 { return r.generator }),
		busy: m(func(r run) float64 { return r.busy }), syncs: m(func(r run) float64 { return r.syncs }),
		sync: m(func(r run) float64 { return r.sync }), memory: m(func(r run) float64 { return r.memory }), sharedInside: runs[0].sharedInside,
	}
}

// bound returns the resource that limits a line's speed, on a computer with cpus processors.
func (r run) bound(cpus int) string {
	if r.sharedInside {
		return "see docs/performance.md"
	}
	all := float64(cpus)
	part := func(cpu float64) float64 { return cpu * r.tasks / 1000 / all }
	server, db, generator := part(r.server), part(r.db), part(r.generator)
	disk := r.syncs * r.tasks / 1000 * r.sync
	ours := fmt.Sprintf("server %.0f %%, generator %.0f %%", 100*server, 100*generator)
	if r.db > 0 {
		ours = fmt.Sprintf("server %.0f %%, database %.0f %%, generator %.0f %%", 100*server, 100*db, 100*generator)
	}
	switch sum := server + db + generator; {
	case r.busy >= 0.9 && sum >= r.busy-sum:
		return "processors: " + ours
	case disk >= 0.6:
		return fmt.Sprintf("the disk: syncs take %.0f %% of the time", 100*disk)
	case r.busy-sum > sum:
		return fmt.Sprintf("other programs on this computer; %s of its processors", ours)
	default:
		return fmt.Sprintf("turns: processors are in use for %.0f %% (%s), syncs take %.0f %%", 100*r.busy, ours, 100*disk)
	}
}

func writeTable(w io.Writer, lines []line) error {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintf(t, "\ttasks/s\t\tlatency, ms\t\tCPU s of 1000 tasks\t\t\tsyncs of\tserver's\tbound by\n")
	fmt.Fprintf(t, "line\tmedian\t(range)\tmedian\tp99\tserver\tdatabase\tgenerator\t1000 tasks\tMB\t\n")
	number := func(format string, v float64) string {
		if v == 0 {
			return "-"
		}
		return fmt.Sprintf(format, v)
	}
	for _, l := range lines {
		rate := func(a, b run) int { return cmp.Compare(a.tasks, b.tasks) }
		m := typical(l.runs)
		fmt.Fprintf(t, "%s\t%.0f\t(%.0f–%.0f)\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", l.name, m.tasks, slices.MinFunc(l.runs, rate).tasks, slices.MaxFunc(l.runs, rate).tasks,
			number("%.1f", m.median), number("%.1f", m.p99), number("%.2f", m.server), number("%.2f", m.db), number("%.2f", m.generator),
			number("%.0f", m.syncs), number("%.0f", m.memory), m.bound(runtime.NumCPU()))
	}
	return t.Flush()
}

// The resource that limits a line follows from its numbers.
func TestBound(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		run  run
		want string
	}{
		{"processors", run{tasks: 1000, server: 1.4, generator: 0.4, busy: 0.95}, "processors: server 70 %, generator 20 %"},
		{
			"database",
			run{tasks: 1000, server: 0.6, db: 1, generator: 0.2, busy: 0.92, syncs: 1000, sync: 1e-3},
			"processors: server 30 %, database 50 %, generator 10 %",
		},
		{"others", run{tasks: 1000, server: 0.6, generator: 0.2, busy: 1}, "other programs on this computer; server 30 %, generator 10 % of its processors"},
		{"disk", run{tasks: 200, server: 1, generator: 0.2, busy: 0.3, syncs: 1000, sync: 4e-3}, "the disk: syncs take 80 % of the time"},
		{
			"neither",
			run{tasks: 1000, server: 0.6, generator: 0.2, busy: 0.5, syncs: 500, sync: 2e-4},
			"turns: processors are in use for 50 % (server 30 %, generator 10 %), syncs take 10 %",
		},
	} {
		if got := test.run.bound(2); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

// The table has medians, ranges, and dashes for values that were not measured.
func TestTable(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	runs := []run{{tasks: 300, median: 3, sharedInside: true}, {tasks: 100, median: 1, sharedInside: true}, {tasks: 250, median: 2, sharedInside: true}}
	must(t, writeTable(&b, []line{{name: "a", runs: runs}, {name: "b", runs: runs[:2]}}))
	var got []string
	for row := range strings.Lines(b.String()) {
		got = append(got, strings.Join(strings.Fields(row), " "))
	}
	want := []string{"a 250 (100–300) 2.0 - - - - - - see docs/performance.md", "b 200 (100–300) 2.0 - - - - - - see docs/performance.md"}
	if len(got) != 4 || !slices.Equal(got[2:], want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
