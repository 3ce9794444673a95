//go:build unix

package executor

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/starling-grid/starling/protocol/appipc"
)

// A bench is an executor with its data directory and one project.
type bench struct {
	*Executor
	t       *testing.T
	data    string
	project string
	events  chan Event
}

func newBench(t *testing.T) *bench {
	t.Helper()
	data, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, data: data, project: filepath.Join(data, "projects", "example.org_p")}
	if err := os.MkdirAll(b.project, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := install(b.project, "app_1.0"); err != nil {
		t.Fatal(err)
	}
	b.put("in_1", "hello")
	b.restart()
	return b
}

// restart replaces the executor by a new one, as when the agent is killed.
func (b *bench) restart() {
	b.t.Helper()
	events := make(chan Event, 100)
	e, err := New(b.data, slog.New(slog.NewTextHandler(b.t.Output(), nil)), func(ev Event) { events <- ev })
	if err != nil {
		b.t.Fatal(err)
	}
	e.timing = timing{poll: 5 * time.Millisecond, leave: 10 * time.Second, unread: time.Minute, afterFinish: time.Minute, deaf: time.Minute, disk: 20 * time.Millisecond}
	e.PassEnvironment([]string{"GORACE", "NAMED"})
	e.Confine(Walls{}) // as in an agent: what works here works behind walls
	b.Executor, b.events = e, events
	b.t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_ = e.Stop(ctx)
	})
}

func (b *bench) put(name, text string) {
	b.t.Helper()
	if err := os.WriteFile(filepath.Join(b.project, name), []byte(text), 0o600); err != nil {
		b.t.Fatal(err)
	}
}

// program makes a script the main program.
func (b *bench) program(script string) {
	b.t.Helper()
	if err := os.Remove(filepath.Join(b.project, "app_1.0")); err != nil {
		b.t.Fatal(err)
	}
	b.put("app_1.0", script)
}

func (b *bench) slotFile(name string) string { return filepath.Join(b.data, "slots", "0", name) }

func (b *bench) read(name string) string {
	text, err := os.ReadFile(name)
	if err != nil {
		return "absent"
	}
	return string(text)
}

func (b *bench) task(args ...string) Task {
	init := appipc.DefaultInitData()
	init.NoPriorityChange = true // or tests starve where others compute
	return Task{
		Result: "r_0", ProjectURL: "http://example.org/p/", Slot: 0, ProjectDir: b.project, Program: "app_1.0",
		Args: append([]string{"application"}, args...),
		Files: []File{
			{Physical: "in_1", Logical: "in"},
			{Physical: "r_0_0", Logical: "out", Output: true, MaxBytes: 1000},
		},
		Init: init,
	}
}

func (b *bench) start(t Task) {
	b.t.Helper()
	if err := b.Start(t); err != nil {
		b.t.Fatal(err)
	}
}

// exited waits for the end of the run.
func (b *bench) exited() Exited {
	for ev := range b.events {
		if e, ok := ev.(Exited); ok {
			return e
		}
	}
	panic("unreachable")
}

// appears waits until the application has made a file in its slot.
func (b *bench) appears(name string) {
	b.t.Helper()
	for {
		if _, err := os.Stat(b.slotFile(name)); err == nil {
			return
		}
		select {
		case ev := <-b.events:
			b.t.Fatalf("waiting for %s: %+v", name, ev)
		case <-time.After(time.Millisecond):
		}
	}
}

// progress waits until the run's progress satisfies f.
func (b *bench) progress(f func(Progress) bool) {
	b.t.Helper()
	for !f(b.Progress()["r_0"]) {
		select {
		case ev := <-b.events:
			b.t.Fatalf("waiting for progress: %+v", ev)
		case <-time.After(time.Millisecond):
		}
	}
}

func TestRunToSuccess(t *testing.T) {
	for _, how := range []string{"links", "copies"} {
		t.Run(how, func(t *testing.T) {
			b := newBench(t)
			task := b.task("upper")
			for i := range task.Files {
				task.Files[i].Copy = how == "copies"
			}
			b.start(task)
			e := b.exited()
			if e.Verdict != Success || e.ExitStatus != 0 || e.Slot != 0 {
				t.Fatalf("got %+v", e)
			}
			if len(e.Outputs) != 1 || e.Outputs[0] != (Output{Physical: "r_0_0", Logical: "out", NBytes: 5, MD5: "eb61eead90e3b899c6bcbe27ac581660"}) {
				t.Errorf("outputs: got %+v", e.Outputs)
			}
			if got := b.read(filepath.Join(b.project, "r_0_0")); got != "HELLO" {
				t.Errorf("output: got %q", got)
			}
			if !strings.Contains(e.Stderr, "finish(0)") || e.CPUTime <= 0 {
				t.Errorf("got %+v", e)
			}
			if err := b.Clear(0); err != nil || b.read(b.slotFile("in")) != "absent" {
				t.Errorf("slot not cleared: %v", err)
			}
		})
	}
}

func TestHowTheProgramIsStarted(t *testing.T) {
	t.Setenv("LD_LIBRARY_PATH", "/opt/lib")
	b := newBench(t)
	task := b.task("plain", "two words")
	task.Files[1].Copy = true
	task.Result = "example.org_p/r_0" // as two projects may have an r_0
	task.Init.ResultName = "r_0"
	b.start(task)
	if e := b.exited(); e.Verdict != Success || e.Result != task.Result {
		t.Fatalf("got %+v", e)
	}
	want := "[\"two words\"]\n../../projects/example.org_p/app_1.0\n../../projects/example.org_p:.:../..:/opt/lib\n"
	if got := b.read(filepath.Join(b.project, "r_0_0")); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := b.read(b.slotFile("in")); got != "<soft_link>../../projects/example.org_p/in_1</soft_link>\n" {
		t.Errorf("soft link: got %q", got)
	}
	d, err := appipc.ParseInitData([]byte(b.read(b.slotFile("init_data.xml"))))
	if err != nil || d.ClientPID != os.Getpid() || d.SHMKey != -1 || d.ResultName != "r_0" || d.ProjectDir != b.project || d.BoincDir != b.data {
		t.Errorf("init data: %+v %v", d, err)
	}
	if b.read(b.slotFile("app_1.0")) == "absent" {
		t.Error("no link to the main program")
	}
}

// An application gets nothing of the agent's environment but what it needs.
func TestEnvironment(t *testing.T) {
	for name, value := range map[string]string{
		"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "LC_ALL": "C", "TZ": "UTC", "GORACE": "atexit_sleep_ms=0", "HOME": "/home/ada",
		"NAMED": "by the volunteer", "AWS_SECRET_ACCESS_KEY": "secret", "http_proxy": "http://ada:secret@proxy/", "STARLING_DATA": "/data",
	} {
		t.Setenv(name, value)
	}
	b := newBench(t)
	task := b.task("environment")
	task.Files[1].Copy = true
	b.start(task)
	if e := b.exited(); e.Verdict != Success {
		t.Fatalf("got %+v", e)
	}
	got := strings.Split(b.read(filepath.Join(b.project, "r_0_0")), "\n")
	slot := filepath.Dir(b.slotFile("x"))
	want := []string{
		"GORACE=atexit_sleep_ms=0", "HOME=" + slot, "LANG=C.UTF-8", "LC_ALL=C", "LD_LIBRARY_PATH=../../projects/example.org_p:.:../..",
		"NAMED=by the volunteer", "PATH=/usr/bin:/bin", "STARLING_SLOT=" + slot, "TMPDIR=" + slot, "TZ=UTC",
	}
	slices.Sort(got)
	got = slices.DeleteFunc(got, func(v string) bool { // what else the machine that tests has of these
		name, _, _ := strings.Cut(v, "=")
		return name == "LANGUAGE" || name == "TZDIR" || strings.HasPrefix(name, "LC_") && name != "LC_ALL"
	})
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestBadEnds(t *testing.T) {
	for _, c := range []struct {
		name   string
		task   func(*bench) Task
		want   Verdict
		status int
		text   string // in the message
	}{
		{"exit status", func(b *bench) Task { return b.task("fail") }, ComputeError, 3, "exited with code 3"},
		{"crash", func(b *bench) Task { return b.task("crash") }, ComputeError, 6, "signal 6"},
		{"missing output", func(b *bench) Task {
			task := b.task("upper")
			task.Files = append(task.Files, File{Physical: "r_0_1", Logical: "more", Output: true, MaxBytes: 9})
			return task
		}, ComputeError, 0, "-161"},
		{"missing optional output", func(b *bench) Task {
			task := b.task("upper")
			task.Files = append(task.Files, File{Physical: "r_0_1", Logical: "more", Output: true, Optional: true, MaxBytes: 9})
			return task
		}, Success, 0, ""},
		{"output too big", func(b *bench) Task {
			task := b.task("upper")
			task.Files[1].MaxBytes = 4
			return task
		}, ComputeError, 0, "-131"},
		{"left too early", func(b *bench) Task { return b.task("leave") }, WillRestart, 0, "without a finish file"},
		{"postponed", func(b *bench) Task { return b.task("later") }, Postponed, 0, "no GPU"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			b.start(c.task(b))
			e := b.exited()
			if e.Verdict != c.want || e.ExitStatus != c.status || !strings.Contains(e.Message, c.text) {
				t.Errorf("got %+v", e)
			}
			if c.name == "exit status" && e.Stderr != "cannot compute\n" {
				t.Errorf("stderr: got %q", e.Stderr)
			}
			if c.name == "output too big" && b.read(filepath.Join(b.project, "r_0_0")) != "absent" {
				t.Error("the output that is too big was kept")
			}
			if c.name == "postponed" && e.Delay != time.Minute {
				t.Errorf("delay %v", e.Delay)
			}
		})
	}
}

func TestTooManyPrematureExits(t *testing.T) {
	b := newBench(t)
	for n := 1; ; n++ {
		b.start(b.task("leave"))
		e := b.exited()
		if n == 50 {
			b.restart() // the count outlives the agent
		}
		if e.Verdict == WillRestart && n < maxPrematureExits {
			continue
		}
		if n != maxPrematureExits || e.ExitStatus != errTooManyExits {
			t.Errorf("exit %d: got %+v", n, e)
		}
		return
	}
}

func TestQuitAndResumeFromCheckpoint(t *testing.T) {
	b := newBench(t)
	var cpu time.Duration
	for n := 1; n <= 3; n++ {
		b.start(b.task("count"))
		ev := <-b.events
		c, ok := ev.(Checkpointed)
		if !ok || c.CPUTime <= cpu {
			t.Fatalf("run %d: got %+v, want a checkpoint after %v", n, ev, cpu)
		}
		cpu = c.CPUTime
		if err := b.Quit("r_0"); err != nil {
			t.Fatal(err)
		}
		if e := b.exited(); e.Verdict != WillRestart || e.CPUTime < cpu {
			t.Fatalf("run %d: got %+v", n, e)
		}
		b.restart()
	}
	b.start(b.task("count"))
	e := b.exited()
	if e.Verdict != Success || e.CPUTime < cpu {
		t.Fatalf("got %+v", e)
	}
	for _, s := range []string{`""`, `"x"`, `"xx"`, `"xxx"`} {
		if !strings.Contains(e.Stderr, "starting with "+s) {
			t.Errorf("never started with %s: %s", s, e.Stderr)
		}
	}
	// Another result must not find any of it.
	task := b.task("count")
	task.Result, task.Init.WUCPUTime = "r_1", time.Hour
	b.start(task)
	if c, ok := (<-b.events).(Checkpointed); !ok || c.CPUTime > time.Hour/2 {
		t.Errorf("got %+v", c)
	}
	if got := b.read(b.slotFile("state")); got != "x" {
		t.Errorf("state of another result: got %q", got)
	}
}

func TestFinishedRunIsNotRepeated(t *testing.T) {
	for _, how := range []string{"links", "copies"} {
		t.Run(how, func(t *testing.T) {
			b := newBench(t)
			task := b.task("upper")
			for i := range task.Files {
				task.Files[i].Copy = how == "copies"
			}
			b.start(task)
			first := b.exited()
			b.restart() // the agent was killed before it could note that down
			task.Args[1] = "fail"
			b.start(task)
			e := b.exited()
			if e.Verdict != Success || len(e.Outputs) != 1 || e.Outputs[0] != first.Outputs[0] {
				t.Errorf("got %+v, want %+v", e, first)
			}
			const step = time.Microsecond // of the state file
			if first.CPUTime-e.CPUTime > step || first.Elapsed-e.Elapsed > step {
				t.Errorf("got %v in %v, want %v in %v", e.CPUTime, e.Elapsed, first.CPUTime, first.Elapsed)
			}
		})
	}
}

func TestSuspend(t *testing.T) {
	for name, end := range map[string]func(*bench) Verdict{
		"quit": func(b *bench) Verdict { _ = b.Quit("r_0"); return WillRestart },
		"abort": func(b *bench) Verdict {
			_ = b.Abort("r_0", 203, "aborted by user")
			return Aborted
		},
		"resume and quit": func(b *bench) Verdict {
			_ = b.Resume("r_0")
			_ = b.Quit("r_0")
			return WillRestart
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.start(b.task("wait"))
			b.appears("working")
			if err := b.Suspend("r_0"); err != nil {
				t.Fatal(err)
			}
			b.progress(func(p Progress) bool { return p.Suspended })
			want := end(b)
			e := b.exited()
			if e.Verdict != want || want == Aborted && (e.ExitStatus != 203 || e.Message != "aborted by user") {
				t.Errorf("got %+v", e)
			}
		})
	}
}

func TestStubbornApplicationIsKilled(t *testing.T) {
	b := newBench(t)
	b.timing.leave = 20 * time.Millisecond
	b.start(b.task("stubborn"))
	b.appears("working")
	_ = b.Quit("r_0")
	if e := b.exited(); e.Verdict != WillRestart {
		t.Errorf("got %+v", e)
	}
	b.start(b.task("stubborn"))
	_ = b.Abort("r_0", 197, "too long")
	if e := b.exited(); e.Verdict != Aborted || e.ExitStatus != 197 {
		t.Errorf("got %+v", e)
	}
}

func TestFinishedProcessThatDoesNotEnd(t *testing.T) {
	b := newBench(t)
	b.timing.leave, b.timing.afterFinish = 20*time.Millisecond, 20*time.Millisecond
	b.start(b.task("stubborn"))
	b.appears("working")
	if err := os.WriteFile(b.slotFile("boinc_finish_called"), []byte("0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if e := b.exited(); e.Verdict != Aborted || e.ExitStatus != 194 {
		t.Errorf("got %+v", e)
	}
}

// gone waits until a process has ended; nobody may reap it but init.
func gone(t *testing.T, pid int) {
	t.Helper()
	for {
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if err != nil && syscall.Kill(pid, 0) != nil || strings.Contains(string(stat), ") Z ") {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

func TestChildOutsideTheGroupIsKilledToo(t *testing.T) {
	b := newBench(t)
	b.timing.leave = 20 * time.Millisecond
	b.start(b.task("escape"))
	b.appears("working")
	pid, err := strconv.Atoi(b.read(b.slotFile("child")))
	if err != nil {
		t.Fatal(err)
	}
	_ = b.Quit("r_0")
	b.exited()
	gone(t, pid)
}

func TestKillLeftovers(t *testing.T) {
	b := newBench(t)
	// The earlier agent and its application: the test binary itself, run in a
	// slot by nobody who looks after it.
	b.start(b.task("leave"))
	b.exited()
	cmd := exec.Command(filepath.Join(b.project, "app_1.0"), "application", "wait")
	cmd.Dir = filepath.Dir(b.slotFile("x"))
	cmd.Env = environment(os.Environ(), nil, "", cmd.Dir)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	b.appears("working")
	// A person who looks around in a slot is no leftover.
	shell := exec.Command("sleep", "1000")
	shell.Dir = cmd.Dir
	if err := shell.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = shell.Process.Kill(); _ = shell.Wait() }()
	if err := b.KillLeftovers(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil || cmd.ProcessState.ExitCode() != -1 {
		t.Errorf("leftover ended with %v", err)
	}
	if err := shell.Process.Signal(syscall.Signal(0)); err != nil {
		t.Errorf("the person's process was killed: %v", err)
	}
	b.start(b.task("upper"))
	if e := b.exited(); e.Verdict != Success {
		t.Errorf("got %+v", e)
	}
}

func TestStop(t *testing.T) {
	b := newBench(t)
	b.start(b.task("wait"))
	b.appears("working")
	other := b.task("wait")
	other.Result, other.Slot = "r_1", 1
	b.start(other)
	if err := b.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if e := b.exited(); e.Verdict != WillRestart {
			t.Errorf("got %+v", e)
		}
	}
	if err := b.Start(b.task("wait")); !errors.Is(err, ErrStopped) {
		t.Errorf("start after stop: %v", err)
	}
}

func TestStopKillsWhenItsTimeIsOver(t *testing.T) {
	b := newBench(t)
	b.start(b.task("stubborn"))
	b.appears("working")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := b.Stop(ctx); err != nil {
		t.Fatal(err)
	}
	if e := b.exited(); e.Verdict != WillRestart {
		t.Errorf("got %+v", e)
	}
}

func TestDiskUsage(t *testing.T) {
	b := newBench(t)
	b.start(b.task("wait"))
	b.appears("working")
	before := b.DiskUsage(0)
	if before < appipc.MmapSize {
		t.Errorf("got %d bytes, want at least those of the shared memory", before)
	}
	if err := os.WriteFile(b.slotFile("big"), make([]byte, 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := b.DiskUsage(0) - before; got != 1<<20 {
		t.Errorf("a megabyte more counts as %d bytes", got)
	}
	if got := b.DiskUsage(7); got != 0 {
		t.Errorf("no slot uses %d bytes", got)
	}
}

func TestPriority(t *testing.T) {
	b := newBench(t)
	task := b.task("wait")
	task.Init.NoPriorityChange = false
	b.start(task)
	b.appears("working")
	n, err := syscall.Getpriority(syscall.PRIO_PROCESS, b.Progress()["r_0"].PID)
	if runtime.GOOS == "linux" {
		n = 20 - n // the system call returns it so
	}
	if err != nil || n != 19 {
		t.Errorf("niceness %d, %v", n, err)
	}
}

func TestRefusals(t *testing.T) {
	b := newBench(t)
	for name, change := range map[string]func(*Task){
		"program outside":           func(t *Task) { t.Program = "../../etc/passwd" },
		"program missing":           func(t *Task) { t.Program = "nothing" },
		"program is a folder":       func(t *Task) { t.Program = "." },
		"physical name outside":     func(t *Task) { t.Files[0].Physical = "../in_1" },
		"physical name empty":       func(t *Task) { t.Files[0].Physical = "" },
		"logical name outside":      func(t *Task) { t.Files[0].Logical = "../in" },
		"logical name in folder":    func(t *Task) { t.Files[0].Logical = "a/b" },
		"line end in a name":        func(t *Task) { t.Files[0].Physical = "a\nb" },
		"reserved name in capitals": func(t *Task) { t.Files[0].Logical = "Init_Data.XML" },
		"reserved name":             func(t *Task) { t.Files[0].Logical = "init_data.xml" },
		"two files of a name":       func(t *Task) { t.Files[1].Logical = "in" },
		"input missing":             func(t *Task) { t.Files[0].Physical = "in_2" },
		"project folder":            func(t *Task) { t.ProjectDir = "/tmp" },
		"slot":                      func(t *Task) { t.Slot = -1 },
	} {
		t.Run(name, func(t *testing.T) {
			task := b.task("upper")
			change(&task)
			if err := b.Start(task); err == nil {
				t.Error("started")
			}
		})
	}
	b.start(b.task("wait"))
	if err := b.Start(b.task("wait")); !errors.Is(err, ErrBusy) {
		t.Errorf("started twice: %v", err)
	}
	if err := b.Clear(0); !errors.Is(err, ErrBusy) {
		t.Errorf("slot in use: %v", err)
	}
	if err := b.Suspend("r_9"); !errors.Is(err, ErrNotRunning) {
		t.Errorf("unknown result: %v", err)
	}
}

func TestLinksOutOfTheProjectAreNotFollowed(t *testing.T) {
	b := newBench(t)
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("key"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(secret, filepath.Join(b.project, "in_2")); err != nil {
		t.Fatal(err)
	}
	task := b.task("upper")
	task.Files[0] = File{Physical: "in_2", Logical: "in", Copy: true}
	if err := b.Start(task); err == nil {
		t.Error("an input outside the project was copied")
	}
	if err := os.Symlink(secret, filepath.Join(b.project, "r_0_0")); err != nil {
		t.Fatal(err)
	}
	b.start(b.task("plain"))
	if e := b.exited(); e.Verdict != ComputeError || e.Outputs[0].MD5 != "" {
		t.Errorf("got %+v", e)
	}
}

func TestSplitCommandLine(t *testing.T) {
	for line, want := range map[string][]string{
		"":                        nil,
		"  a  b\tc\n":             {"a", "b", "c"},
		`--x='1 2' "3 4" '' d"e"`: {"--x=1 2", "3 4", "", "de"},
		`"it's" 'say "hi"'`:       {"it's", `say "hi"`},
		`a "open end`:             {"a", "open end"},
		`back\ slash`:             {`back\`, "slash"},
	} {
		if got := SplitCommandLine(line); strings.Join(got, "|") != strings.Join(want, "|") || len(got) != len(want) {
			t.Errorf("%q: got %q, want %q", line, got, want)
		}
	}
}
