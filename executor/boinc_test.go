//go:build unix

package executor

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/internal/testapp"
	"github.com/starling-grid/starling/internal/testwait"
	"github.com/starling-grid/starling/protocol/appipc"
)

// boincApp puts our application that is linked with BOINC's own runtime into the project's folder.
func (b *bench) boincApp() {
	b.t.Helper()
	exe, err := testapp.Build()
	if err != nil {
		b.t.Skip(err)
	}
	if err := os.Remove(filepath.Join(b.project, "app_1.0")); err != nil {
		b.t.Fatal(err)
	}
	text, err := os.ReadFile(exe)
	if err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(b.project, "app_1.0"), text, 0o700); err != nil {
		b.t.Fatal(err)
	}
}

func newBOINCBench(t *testing.T) *bench {
	t.Helper()
	b := newBench(t)
	b.boincApp()
	return b
}

// boincTask returns a task of that application.
func (b *bench) boincTask(args ...string) Task {
	t := b.task()
	t.Args = args
	return t
}

func TestBOINCApplicationEnds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args   []string
		want   Verdict
		status int
		text   string // in the message
		stderr string
	}{
		{[]string{"upper"}, Success, 0, "", "called boinc_finish(0)"},
		{[]string{"message", "0"}, ComputeError, 0, "not found", "called boinc_finish(0)"}, // it made no output
		{[]string{"message", "7"}, ComputeError, 7, "the disk is on fire", "called boinc_finish(7)"},
		{[]string{"later"}, Postponed, 0, "no GPU", ""},
		{[]string{"return"}, WillRestart, 0, "without a finish file", ""},
		{[]string{"segv"}, ComputeError, 193, "exited with code 193", "SIGSEGV"},
		{[]string{"abort"}, ComputeError, 193, "exited with code 193", "SIGABRT"},
		{[]string{"nonsense"}, ComputeError, 2, "exited with code 2", "no such thing"},
		{[]string{"garbage"}, Success, 0, "", ""},
		{[]string{"statuses"}, Success, 0, "", ""},
	} {
		t.Run(strings.Join(c.args, " "), func(t *testing.T) {
			t.Parallel()
			b := newBOINCBench(t)
			b.timing.leave = time.Minute
			b.start(b.boincTask(c.args...))
			e := b.exited()
			if e.Verdict != c.want || e.ExitStatus != c.status || !strings.Contains(e.Message, c.text) {
				t.Errorf("got %+v", e)
			}
			if e.Verdict.Over() && !strings.Contains(e.Stderr, c.stderr) {
				t.Errorf("stderr: got %s", e.Stderr)
			}
			if c.want == Success && b.read(filepath.Join(b.project, "r_0_0")) != "HELLO" {
				t.Error("wrong output")
			}
			if c.want == Postponed && e.Delay != 90*time.Second {
				t.Errorf("delay %v", e.Delay)
			}
			if e.CPUTime < 0 || e.CPUTime > time.Hour || e.PeakWorkingSet < 0 || e.PeakWorkingSet > 1<<40 {
				t.Errorf("got %v, %d bytes", e.CPUTime, e.PeakWorkingSet)
			}
		})
	}
}

func TestBOINCApplicationGoesOnFromItsCheckpoint(t *testing.T) {
	t.Parallel()
	b := newBOINCBench(t)
	var cpu time.Duration
	for n := 1; n <= 3; n++ {
		task := b.boincTask("count")
		task.Init.CheckpointPeriod = time.Second
		b.start(task)
		ev := <-b.events
		c, ok := ev.(Checkpointed)
		if !ok || c.CPUTime <= cpu || c.Fraction != float64(n)/4 {
			t.Fatalf("run %d: got %+v, want a checkpoint after %v", n, ev, cpu)
		}
		cpu = c.CPUTime
		if n == 2 { // it is asked to quit while it is suspended
			_ = b.Suspend("r_0")
		}
		_ = b.Quit("r_0")
		if e := b.exited(); e.Verdict != WillRestart {
			t.Fatalf("run %d: got %+v", n, e)
		}
		b.restart()
	}
	b.start(b.boincTask("count"))
	if e := b.exited(); e.Verdict != Success || e.CPUTime < cpu || b.read(filepath.Join(b.project, "r_0_0")) != "xxx" ||
		!strings.Contains(e.Stderr, "starting with 'xx'") {
		t.Errorf("got %+v", e)
	}
}

func TestBOINCApplicationIsSuspendedAndEnded(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*bench) Verdict{
		"quit":  func(b *bench) Verdict { _ = b.Quit("r_0"); return WillRestart },
		"abort": func(b *bench) Verdict { _ = b.Abort("r_0", 203, "aborted by user"); return Aborted },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBOINCBench(t)
			b.start(b.boincTask("tick"))
			b.ticking("ticks")
			_ = b.Suspend("r_0")
			b.still("ticks")
			_ = b.Resume("r_0")
			b.ticking("ticks")
			_ = b.Suspend("r_0")
			b.still("ticks")
			want := end(b)
			// It exits as asked: nothing had to wait for the minute after which it is killed.
			b.ends(want)
			if b.read(b.slotFile("boinc_lockfile")) != "absent" {
				t.Error("it was killed: its lock is left")
			}
		})
	}
}

// An application whose timer thread does not read messages is killed.
func TestBOINCApplicationThatHandlesNoMessages(t *testing.T) {
	t.Parallel()
	b := newBOINCBench(t)
	b.timing.leave = 50 * time.Millisecond
	b.start(b.boincTask("deaf"))
	b.ticking("ticks")
	_ = b.Quit("r_0")
	b.ends(WillRestart)
	b.timing.unread, b.timing.leave = 50*time.Millisecond, time.Minute
	b.start(b.boincTask("deaf"))
	b.ticking("ticks")
	b.progress(func(p Progress) bool { return p.CPUTime > 0 })
	_ = b.Suspend("r_0")
	b.ends(WillRestart)
}

// goesOn waits until the count has increased by so many.
func (b *bench) goesOn(name string, n int) {
	b.t.Helper()
	want := b.ticks(name) + n
	b.until(name, func() bool { return b.ticks(name) >= want })
}

func TestCriticalSectionIsNotInterrupted(t *testing.T) {
	t.Parallel()
	b := newBOINCBench(t)
	b.timing.unresponsive = 0
	b.start(b.boincTask("critical"))
	b.appears("working")
	b.progress(func(p Progress) bool { return p.Listens })
	_ = b.Suspend("r_0")
	b.goesOn("ticks", 100)
	_ = b.Resume("r_0")
	_ = b.Quit("r_0")
	b.goesOn("ticks", 100)
	must(t, os.WriteFile(b.slotFile("leave"), []byte("x"), 0o600))
	b.ends(WillRestart)
}

func TestWholeTree(t *testing.T) {
	t.Parallel()
	b := newBOINCBench(t)
	b.start(b.boincTask("family"))
	b.ticking("child_ticks")
	b.appears("far")
	far := b.ticks("far")
	_ = b.Suspend("r_0")
	b.still("ticks")
	b.still("child_ticks")
	_ = b.Resume("r_0")
	b.ticking("ticks")
	b.ticking("child_ticks")
	_ = b.Suspend("r_0")
	b.still("child_ticks")
	_ = b.Quit("r_0")
	b.exited()
	b.still("child_ticks")
	gone(t, far)
}

func TestProgramThatKnowsNoInterface(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.timing.unresponsive = 20 * time.Millisecond
	script := "#!/bin/sh\n(i=0; while :; do i=$((i+1)); echo $i >c; mv c child_ticks; done) &\ni=0; while :; do i=$((i+1)); echo $i >t; mv t ticks; done\n"
	b.program(script)
	b.start(b.boincTask())
	b.ticking("child_ticks")
	_ = b.Suspend("r_0")
	b.still("ticks")
	b.still("child_ticks")
	_ = b.Resume("r_0")
	_ = b.Quit("r_0")
	if e := b.exited(); e.Verdict != WillRestart || e.CPUTime == 0 {
		t.Errorf("got %+v", e)
	}
	b.isEmpty()
}

func TestWhatApplicationsAreTold(t *testing.T) {
	t.Parallel()
	b := newBOINCBench(t)
	task := b.boincTask("init")
	d := &task.Init
	d.AppName, d.AppVersion, d.WUName, d.ResultName = "demo", 123, "wu_1", "r_0"
	d.RscFPOpsEst, d.RscFPOpsBound, d.RscMemoryBound, d.RscDiskBound = 1e12, 1e13, 1e8, 2e8
	d.CheckpointPeriod, d.HostID, d.UserName, d.NCPUs = 77*time.Second, 42, "A & B", 2
	d.ComputationDeadline = time.Unix(1795216071, 0)
	b.start(task)
	b.exited()
	want := "demo|123|wu_1|r_0|1000000000000|10000000000000|100000000|200000000|77|0|42|A & B|2.00|1795216071"
	if got := b.read(filepath.Join(b.project, "r_0_0")); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestPreferencesAreReread(t *testing.T) {
	t.Parallel()
	b := newBOINCBench(t)
	task := b.boincTask("reread")
	task.Init.GlobalPreferences = "<disk_interval>60</disk_interval>"
	b.start(task)
	b.appears("working")
	task.Init.GlobalPreferences = "<disk_interval>17</disk_interval>"
	must(t, b.Reread(task))
	if e := b.exited(); e.Verdict != Success || b.read(filepath.Join(b.project, "r_0_0")) != "17" {
		t.Errorf("got %+v", e)
	}
}

func TestTrickles(t *testing.T) {
	t.Parallel()
	b := newBOINCBench(t)
	b.start(b.boincTask("trickle"))
	ev := <-b.events
	up, ok := ev.(TrickledUp)
	if !ok || up.Result != "r_0" || b.read(b.slotFile("trickle_up.xml")) != "absent" {
		t.Fatalf("got %+v", ev)
	}
	name, at, ok := appipc.ParseTrickleName(up.File)
	if !ok || name != "r_0" || time.Since(at).Abs() > time.Hour {
		t.Errorf("name %s", up.File)
	}
	text := b.read(filepath.Join(b.project, up.File))
	if !strings.Contains(text, "<variety>demo</variety>") || !strings.Contains(text, "<steps>12</steps>") {
		t.Errorf("got %s", text)
	}
	if err := b.TrickleDown("r_1", 0, time.Now(), "for another"); !errors.Is(err, ErrNotRunning) {
		t.Errorf("got %v", err)
	}
	must(t, b.TrickleDown("r_0", 0, time.Now(), "<go_on/>"))
	if e := b.exited(); e.Verdict != Success || b.read(filepath.Join(b.project, "r_0_0")) != "<go_on/>" {
		t.Errorf("got %+v", e)
	}
}

// While too many messages wait for the server, an application's next ones are dropped.
func TestTricklesAreBounded(t *testing.T) {
	t.Parallel()
	b := newBOINCBench(t)
	for n := range maxWaiting {
		b.put(appipc.TrickleName("r_0", time.Unix(int64(n), 0)), "")
	}
	b.start(b.boincTask("trickle"))
	must(t, b.TrickleDown("r_0", 0, time.Now(), "<go_on/>"))
	if e := b.exited(); e.Verdict != Success || b.read(b.slotFile("trickle_up.xml")) != "absent" {
		t.Errorf("got %+v", e)
	}
	if found, err := filepath.Glob(filepath.Join(b.project, "trickle_up_r_0_*")); err != nil || len(found) != maxWaiting {
		t.Errorf("%d messages wait, %v", len(found), err)
	}
}

// An application has an output uploaded while it keeps running, and is notified of the outcome.
func TestUploadWhileItRuns(t *testing.T) {
	t.Parallel()
	b := newBOINCBench(t)
	b.start(b.boincTask("upload"))
	ev := <-b.events
	up, ok := ev.(UploadRequested)
	if !ok || up.Result != "r_0" || up.Output.Physical != "r_0_0" || up.Output.Logical != "out" || up.Output.NBytes != 5 || up.Output.MD5 != "2b3de800b4576343a07e86b8c420e448" {
		t.Fatalf("got %+v", ev)
	}
	must(t, b.UploadEnded("r_0", "out", 0))
	if e := b.exited(); e.Verdict != Success || e.Outputs[0].MD5 != up.Output.MD5 || b.read(b.slotFile("told")) == "absent" {
		t.Errorf("got %+v", e)
	}
	// A file that is not an output is refused at once.
	must(t, b.Clear(0))
	task := b.boincTask("upload")
	task.Files[1].Logical = "other"
	b.start(task)
	testwait.Until(t, "the refusal", func() bool {
		return strings.Contains(b.read(b.slotFile("boinc_ufs_out")), "<status>-161</status>")
	})
	_ = b.Abort("r_0", 203, "")
	b.exited()
}

func TestGraphicsAddress(t *testing.T) {
	t.Parallel()
	b := newBOINCBench(t)
	b.start(b.boincTask("graphics"))
	b.progress(func(p Progress) bool { return p.Graphics == "http://localhost:1234/" })
}

func TestWrapperApplication(t *testing.T) {
	t.Parallel()
	b := newBOINCBench(t)
	b.put("job", "i=0; while :; do i=$((i+1)); echo $i >t; mv t ticks; done\n")
	task := b.boincTask("indirect")
	task.Files = append(task.Files, File{Physical: "job", Logical: "job", Copy: true})
	b.start(task)
	b.ticking("ticks")
	_ = b.Suspend("r_0")
	b.still("ticks")
	_ = b.Resume("r_0")
	b.ticking("ticks")
	_ = b.Suspend("r_0")
	b.still("ticks")
	_ = b.Quit("r_0")
	b.ends(WillRestart)
	b.isEmpty()
	must(t, b.Clear(0))
	b.put("job", "exit 4\n")
	b.start(task)
	b.ends(ComputeError, 195)
}
