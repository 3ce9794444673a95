package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/shirou/gopsutil/v3/cpu"

	"github.com/starling-grid/starling/internal/testbrowser"
	"github.com/starling-grid/starling/internal/testhost"
	"github.com/starling-grid/starling/internal/testprogram"
	"github.com/starling-grid/starling/internal/testwait"
)

// TestFeel prints how much the agent's tasks slow the programs of a person at the computer down, and how much
// the same tasks of BOINC's client do: a compiler, a busy program, a timer, a browser that scrolls, and reads
// from the disk. The computer alone, the agent and the client take turns, each round in another order. The
// table also has the part that tasks get of the CPU time that others leave.
//
// The programs run in the session of this test, and the agent and the client in others, as services do. The
// test fails only if tasks do not run or stop as they should. The figures need a quiet computer.
func TestFeel(t *testing.T) {
	const variable = "STARLING_FEEL"
	onDemand(t, variable, "feel")
	n, err := strconv.Atoi(os.Getenv(variable))
	if err != nil || n < 1 {
		t.Fatalf("%s is the number of rounds: %v", variable, err)
	}
	ctx := t.Context()
	probe := t.TempDir()
	must(t, testprogram.Build(ctx, probe, nil, "e2e/testdata/feel"))
	browser, page := testbrowser.New(t), longPage(t)
	people := []load{{"alone", func() int { return 0 }, func(bool) {}}, loadOfAgent(t, ctx), loadOfBOINC(t, ctx)}
	measured := make(map[string][][]float64) // by name and load
	note := func(i int, all map[string]float64) {
		for name, v := range all {
			if measured[name] == nil {
				measured[name] = make([][]float64, len(people))
			}
			measured[name][i] = append(measured[name][i], v)
		}
	}
	for round := range n {
		for k := range people {
			i := (round + k) % len(people)
			l := people[i]
			l.compute(true)
			if l.name != "alone" {
				note(i, map[string]float64{leisure: atLeisure(t, l)})
			}
			note(i, feel(t, ctx, filepath.Join(probe, "feel"), probe))
			note(i, compile(t, ctx))
			note(i, scroll(browser, page.URL))
			l.compute(false)
		}
	}
	fmt.Println(tableOf(people, measured))
}

// leisure names the part that tasks get of the CPU time that other programs leave. It is measured while the
// computer is idle.
const leisure = "of the CPU time that others leave"

// A load runs tasks, which compete with the programs of a person.
type load struct {
	name    string
	pid     func() int // of the program that starts tasks
	compute func(bool) // starts tasks on all CPUs, or stops them, and returns when they have
}

// settle waits until the tasks of a load use all CPUs, or stop.
func (l load) settle(t *testing.T, ctx context.Context, busy bool) {
	t.Helper()
	testwait.Try(t, ctx, l.name+" to do as told", func() error {
		used := cpuTimeDuring(t, l.pid(), time.Second)
		if enough := 0.7 * float64(runtime.NumCPU()); busy && used < enough || !busy && used > 0.1 {
			return fmt.Errorf("its tasks use %.2f CPUs", used)
		}
		return nil
	})
}

// endless are exponents that take hours. Composite numbers of this size end at once.
var endless = []int{1257787, 1398269, 2976221, 3021377, 6972593, 13466917, 20996011, 24036583, 25964951, 30402457, 32582657, 37156667, 42643801, 43112609, 57885161, 74207281}

// tasksFor serves a project with a long task for each CPU.
func tasksFor(t *testing.T, ctx context.Context) *testhost.Project {
	t.Helper()
	p := newProject(t, ctx)
	work(t, ctx, p, 1, endless[:runtime.NumCPU()]...)
	serve(t, ctx, p)
	return p
}

func loadOfAgent(t *testing.T, ctx context.Context) load {
	a := configured(t, "a", "", "")
	usualPriority(t, a)
	startAgent(t, ctx, a, tasksFor(t, ctx))
	l := load{name: "Starling", pid: func() int { return a.Process().PID() }}
	l.compute = func(on bool) {
		if _, err := a.Run(ctx, "mode", map[bool]string{true: "always", false: "never"}[on]); err != nil {
			t.Fatal(err)
		}
		l.settle(t, ctx, on)
	}
	l.compute(true)
	l.compute(false)
	return l
}

// usualPriority undoes the setting that keeps tasks of other tests from starving.
func usualPriority(t *testing.T, a *testhost.Agent) {
	t.Helper()
	name := filepath.Join(a.Dir, "starling.toml")
	text, err := os.ReadFile(name)
	must(t, err)
	usual := strings.Replace(string(text), "no_priority_change = true\n", "", 1)
	if usual == string(text) {
		t.Fatal("the setting is not in " + name)
	}
	must(t, os.WriteFile(name, []byte(usual), 0o600))
}

func loadOfBOINC(t *testing.T, ctx context.Context) load {
	dir := t.TempDir()
	settings := strings.Replace(boincSettings, "<ncpus>1</ncpus>", "", 1)
	must(t, os.WriteFile(filepath.Join(dir, "cc_config.xml"), []byte(settings), 0o600))
	c := startBOINCIn(t, ctx, dir)
	p := tasksFor(t, ctx)
	c.do(ctx, "--project_attach", p.URL, p.Key)
	l := load{name: "BOINC's client", pid: func() int { return c.proc.PID() }}
	l.compute = func(on bool) {
		c.do(ctx, "--set_run_mode", map[bool]string{true: "always", false: "never"}[on])
		l.settle(t, ctx, on)
	}
	l.compute(true)
	l.compute(false)
	return l
}

// atLeisure measures leisure for a load.
func atLeisure(t *testing.T, l load) float64 {
	unused, seconds := unusedTime(t), 10.0
	used := seconds * cpuTimeDuring(t, l.pid(), time.Duration(seconds)*time.Second)
	return used / (used + unusedTime(t) - unused)
}

// unusedTime returns the CPU time in seconds that no program has used since the computer was started.
func unusedTime(t *testing.T) float64 {
	t.Helper()
	times, err := cpu.Times(false)
	must(t, err)
	return times[0].Idle + times[0].Iowait
}

// cpuTimeDuring returns the average number of CPUs that the descendants of a process use.
func cpuTimeDuring(t *testing.T, pid int, d time.Duration) float64 {
	t.Helper()
	before, begin := cpuTimeOf(t, pid), time.Now()
	<-time.After(d) // the measurement
	return (cpuTimeOf(t, pid) - before) / time.Since(begin).Seconds()
}

// cpuTimeOf returns the CPU time in seconds of the descendants of a process.
func cpuTimeOf(t *testing.T, pid int) (seconds float64) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	must(t, err)
	type process struct{ parent, ticks int }
	all := make(map[int]process)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // the process has ended
		}
		// After the name, which may be anything: the state, the parent, and as items 12 and 13 the CPU time.
		f := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
		number := func(i int) int { n, _ := strconv.Atoi(f[i]); return n }
		id, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		all[id] = process{number(1), number(11) + number(12)}
	}
	for id, p := range all {
		for up := p.parent; up != 0; up = all[up].parent {
			if up == pid {
				seconds += float64(all[id].ticks) / 100 // USER_HZ
				break
			}
		}
	}
	return seconds
}

// feel runs the program that measures.
func feel(t *testing.T, ctx context.Context, program, dir string) (out map[string]float64) {
	t.Helper()
	text, err := exec.CommandContext(ctx, program, dir).Output()
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	must(t, err)
	return out
}

// compile compiles a part of Go's library with an empty build cache.
func compile(t *testing.T, ctx context.Context) map[string]float64 {
	t.Helper()
	cache := t.TempDir()
	cmd := exec.CommandContext(ctx, "go", "build", "encoding/json")
	cmd.Env = append(os.Environ(), "GOCACHE="+cache, "GOFLAGS=")
	begin := time.Now()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return map[string]float64{"compile encoding/json": time.Since(begin).Seconds()}
}

// longPage serves a page with expensive layout and shadows.
func longPage(t *testing.T) *httptest.Server {
	text := "<!doctype html><title>scroll</title>" + strings.Repeat("<p style='columns:3;text-shadow:1px 1px 2px'>"+strings.Repeat("Some words to lay out. ", 40)+"</p>", 400)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, text) }))
	t.Cleanup(s.Close)
	return s
}

// scroll makes Chromium scroll through a page for some seconds.
func scroll(b testbrowser.Browser, url string) map[string]float64 {
	b.Do("open the page", chromedp.Navigate(url))
	frames := testbrowser.Value[[]float64](b, `new Promise(done => {
		const frames = []; let last = performance.now();
		const next = now => {
			frames.push(now - last); last = now; scrollBy(0, 40);
			frames.length < 240 ? requestAnimationFrame(next) : done(frames);
		};
		requestAnimationFrame(next);
	})`)
	slices.Sort(frames)
	at := func(q float64) float64 { return frames[int(q*float64(len(frames)-1))] / 1000 }
	return map[string]float64{"a frame of a browser, p50": at(0.5), "a frame of a browser, p99": at(0.99)}
}

// tableOf prints medians, and their ratios to the medians of the computer alone.
func tableOf(people []load, measured map[string][][]float64) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n| median of %d | ", len(measured[slices.Sorted(maps.Keys(measured))[0]][1]))
	for _, l := range people {
		fmt.Fprintf(&b, "%s | ", l.name)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(people)))
	for _, name := range slices.Sorted(maps.Keys(measured)) {
		fmt.Fprintf(&b, "\n| %s |", name)
		alone := median(measured[name][0])
		for i, list := range measured[name] {
			switch v := median(list); {
			case len(list) == 0:
				b.WriteString(" |")
			case name == leisure:
				fmt.Fprintf(&b, " %.1f %% |", 100*v)
			case i == 0 || alone == 0:
				fmt.Fprintf(&b, " %s |", figure(v))
			default:
				fmt.Fprintf(&b, " %s (%.2f ×) |", figure(v), v/alone)
			}
		}
	}
	return b.String()
}

func median(list []float64) float64 {
	if len(list) == 0 {
		return 0
	}
	list = slices.Sorted(slices.Values(list))
	return list[len(list)/2]
}

// figure formats a time.
func figure(v float64) string {
	switch {
	case v < 0.001:
		return fmt.Sprintf("%.0f µs", v*1e6)
	case v < 1:
		return fmt.Sprintf("%.2f ms", v*1e3)
	}
	return fmt.Sprintf("%.2f s", v)
}
