package executor

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/starling-grid/starling/protocol/appipc"
)

// inRun runs f in the run's goroutine and waits for it.
func (b *bench) inRun(f func(*run)) {
	b.t.Helper()
	done := make(chan struct{})
	if err := b.toRun("r_0", "test", func(r *run) { f(r); close(done) }); err != nil {
		b.t.Fatal(err)
	}
	<-done
}

// ask queries the system's information about a job.
func ask[T any](t *testing.T, g *group, class int32) (into T) {
	t.Helper()
	if err := windows.QueryInformationJobObject(g.job, class, uintptr(unsafe.Pointer(&into)), uint32(unsafe.Sizeof(into)), nil); err != nil {
		t.Errorf("class %d: %v", class, err)
	}
	return into
}

const always = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE | windows.JOB_OBJECT_LIMIT_DIE_ON_UNHANDLED_EXCEPTION

func TestLimitsOfAJob(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		memory    int64
		processes int
		flags     uint32
		most      uintptr
	}{
		{0, 0, always, 0},
		{300 << 20, 0, always | windows.JOB_OBJECT_LIMIT_JOB_MEMORY, 600 << 20},
		{0, 64, always | windows.JOB_OBJECT_LIMIT_ACTIVE_PROCESS, 0},
		{1 << 40, 3, always | windows.JOB_OBJECT_LIMIT_JOB_MEMORY | windows.JOB_OBJECT_LIMIT_ACTIVE_PROCESS, 2 << 40},
	} {
		l := limits(c.memory, c.processes)
		if b := l.BasicLimitInformation; b.LimitFlags != c.flags || int(b.ActiveProcessLimit) != c.processes || l.JobMemoryLimit != c.most {
			t.Errorf("%d bytes, %d processes: got %+v", c.memory, c.processes, l)
		}
	}
}

// The job object has the task's limits and contains its process.
func TestWhatTheJobSays(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Allow(Allowance{MostMemory: 300 << 20, Processes: 4})
	b.start(b.task("wait"))
	b.appears("working")
	var in bool
	var l windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	var ui windows.JOBOBJECT_BASIC_UI_RESTRICTIONS
	b.inRun(func(r *run) {
		pids, _ := r.group.members()
		in = slices.Contains(pids, r.pid())
		l = ask[windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION](t, r.group, windows.JobObjectExtendedLimitInformation)
		if l.BasicLimitInformation.LimitFlags != 0 {
			ui = ask[windows.JOBOBJECT_BASIC_UI_RESTRICTIONS](t, r.group, windows.JobObjectBasicUIRestrictions)
		}
	})
	if !in {
		t.Error("the application is not in its job")
	}
	if l.BasicLimitInformation.LimitFlags == 0 {
		t.Skip("the system does not say what limits a job has, as Wine does not; they are NOT looked at, but for the one that other tests see at work")
	}
	if want := limits(300<<20, 4*moreTasks); l.BasicLimitInformation != want.BasicLimitInformation || l.JobMemoryLimit != want.JobMemoryLimit {
		t.Errorf("limits: got %+v, want %+v", l, want)
	}
	if ui.UIRestrictionsClass != uiLimits {
		t.Errorf("desktop: got %#x, want %#x", ui.UIRestrictionsClass, uiLimits)
	}
}

// The priority is the same as with BOINC's client, and a child inherits it.
func TestPriorityClass(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		change func(*appipc.InitData)
		want   uint32
	}{
		{func(*appipc.InitData) {}, windows.IDLE_PRIORITY_CLASS},
		{func(d *appipc.InitData) { d.ProcessPriority = 1 }, windows.BELOW_NORMAL_PRIORITY_CLASS},
		{func(d *appipc.InitData) { d.GPUUsage = 1 }, windows.BELOW_NORMAL_PRIORITY_CLASS},
		{func(d *appipc.InitData) { d.NoPriorityChange = true }, windows.NORMAL_PRIORITY_CLASS},
	} {
		b := newBench(t)
		task := b.task("wait")
		task.Init.NoPriorityChange = false
		c.change(&task.Init)
		b.start(task)
		b.appears("working")
		h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(b.Progress()["r_0"].PID))
		must(t, err)
		if got, err := windows.GetPriorityClass(h); err != nil || got != c.want {
			t.Errorf("got %#x, %v; want %#x", got, err, c.want)
		}
		_ = windows.CloseHandle(h)
		_ = b.Quit("r_0")
		b.exited()
	}
}

// A program that does not use BOINC's interface can be suspended repeatedly, together with its
// children, and all of them are gone after a quit.
func TestAPlainProgramIsSuspended(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.timing.unresponsive = 20 * time.Millisecond
	b.start(b.task("spin"))
	for range 3 {
		b.ticking("ticks")
		b.ticking("child.ticks")
		must(t, b.Suspend("r_0"))
		b.still("ticks")
		b.still("child.ticks")
		must(t, b.Resume("r_0"))
	}
	b.ticking("ticks")
	b.ticking("child.ticks")
	_ = b.Suspend("r_0")
	b.still("ticks")
	_ = b.Quit("r_0")
	b.ends(WillRestart)
	b.still("child.ticks")
}

// A job ends when the last handle to it is closed. Only the agent has one, so however the agent
// ends, no task outlives it.
func TestNoTaskOutlivesItsJob(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.start(b.task("escape"))
	b.appears("working")
	b.inRun(func(r *run) {
		_ = windows.CloseHandle(r.group.job)
		r.group.job = 0
	})
	if e := b.exited(); e.Verdict == Success {
		t.Errorf("got %+v", e)
	}
}

// inC puts the application written in C into the project's folder.
func inC(t *testing.T, args ...string) (*bench, Task) {
	t.Helper()
	app := os.Getenv("STARLING_WINDOWS_APP")
	if app == "" {
		if os.Getenv("CI") != "" {
			t.Fatal("tools/wine/test has not built the application in C: is gcc-mingw-w64-x86-64 installed?")
		}
		t.Skip("there is no application in C: tools/wine/test builds it, with gcc-mingw-w64-x86-64")
	}
	b := newBench(t)
	text, err := os.ReadFile(app)
	must(t, err)
	b.put("app_c.exe", string(text))
	task := b.task()
	task.Program, task.Args = "app_c.exe", args
	return b, task
}

// An application written in C, which shares no code with this package, obeys its messages.
func TestAnApplicationInC(t *testing.T) {
	t.Parallel()
	b, task := inC(t, "count", "300")
	var cpu time.Duration
	for n := range 2 { // interrupted twice
		b.start(task)
		b.ticking("ticks")
		must(t, b.Suspend("r_0"))
		b.still("ticks")
		_ = b.Resume("r_0")
		for saved := false; !saved; {
			switch ev := (<-b.events).(type) {
			case Checkpointed:
				if ev.CPUTime <= cpu {
					t.Errorf("run %d: a checkpoint at %v, the last was at %v", n, ev.CPUTime, cpu)
				}
				cpu, saved = ev.CPUTime, true
			case Exited:
				t.Fatalf("run %d: got %+v", n, ev)
			}
		}
		b.progress(func(p Progress) bool { return p.Fraction > 0 && p.Listens })
		if n == 0 { // a suspended application quits as well
			_ = b.Suspend("r_0")
			b.still("ticks")
		}
		_ = b.Quit("r_0")
		if e := b.exited(); e.Verdict != WillRestart {
			t.Fatalf("run %d: got %+v", n, e)
		}
		b.restart()
	}
	b.start(task)
	e := b.exited()
	if e.Verdict != Success || e.CPUTime < cpu || b.read(filepath.Join(b.project, "r_0_0")) != "300\n" {
		t.Errorf("got %+v", e)
	}
	if starts := strings.Count(e.Stderr, "starting from "); starts != 3 || strings.Count(e.Stderr, "starting from 0") != 1 {
		t.Errorf("it did not resume from its checkpoints: %q", e.Stderr)
	}
}

func TestHowApplicationsInCEnd(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		args   []string
		what   func(*bench)
		want   Verdict
		status int
		text   string
	}{
		{"aborted", []string{"count", "1000000"}, func(b *bench) {
			b.ticking("ticks")
			_ = b.Abort("r_0", 203, "aborted by user")
		}, Aborted, 203, "aborted by user"},
		{"aborted while suspended", []string{"count", "1000000"}, func(b *bench) {
			b.ticking("ticks")
			_ = b.Suspend("r_0")
			b.still("ticks")
			_ = b.Abort("r_0", 203, "aborted by user")
		}, Aborted, 203, "aborted by user"},
		{"crash", []string{"crash"}, nil, ComputeError, -1073741819, "(0xc0000005): access violation"},
		{"fork bomb", []string{"fork", "60"}, func(b *bench) { b.Allow(Allowance{Processes: 8}) }, Aborted, 194, "processes > 8 (max_processes)"},
		{"memory", []string{"grow"}, func(b *bench) { b.Allow(Allowance{MostMemory: 64 << 20}) }, Aborted, 198, "MB > 64.00MB"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, task := inC(t, c.args...)
			b.start(task)
			if c.what != nil {
				c.what(b)
			}
			if e := b.exited(); e.Verdict != c.want || e.ExitStatus != c.status || !strings.Contains(e.Message, c.text) {
				t.Errorf("got %+v", e)
			}
			b.isEmpty()
		})
	}
}
