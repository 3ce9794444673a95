package boincapi

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/internal/testwait"
	"github.com/starling-grid/starling/protocol/appipc"
)

// A client simulates BOINC's client for one application process.
type client struct {
	t   *testing.T
	dir string
	ipc appipc.Channels
	cmd *exec.Cmd
	out *bufio.Reader
	// The number of CPUs that the application used at its start.
	cpus string
}

func newClient(t *testing.T, change func(*appipc.InitData)) *client {
	t.Helper()
	c := &client{t: t, dir: t.TempDir()}
	d := appipc.DefaultInitData()
	d.ClientPID = os.Getpid()
	d.WUCPUTime = 100 * time.Second
	if change != nil {
		change(&d)
	}
	c.ipc = offer(t, c.dir, &d)
	c.write(appipc.InitDataFile, d.Encode())
	return c
}

func (c *client) write(name string, b []byte) {
	c.t.Helper()
	if err := os.WriteFile(filepath.Join(c.dir, name), b, 0o600); err != nil {
		c.t.Fatal(err)
	}
}

func (c *client) read(name string) string {
	b, err := os.ReadFile(filepath.Join(c.dir, name))
	if err != nil {
		return "absent"
	}
	return string(b)
}

// start runs the application and returns when it is initialized.
func (c *client) start(what string) {
	c.t.Helper()
	exe, err := os.Executable()
	if err != nil {
		c.t.Fatal(err)
	}
	c.cmd = exec.Command(exe, "application", what)
	c.cmd.Dir = c.dir
	stdout, err := c.cmd.StdoutPipe()
	if err != nil {
		c.t.Fatal(err)
	}
	stderr, err := os.OpenFile(filepath.Join(c.dir, appipc.StderrFile), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		c.t.Fatal(err)
	}
	defer stderr.Close()
	c.cmd.Stderr = stderr
	if err := c.cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { _ = c.cmd.Process.Kill() })
	c.out = bufio.NewReader(stdout)
	got := c.line()
	for strings.HasPrefix(got, "suspended") { // it was suspended before it reported its start
		got = c.line()
	}
	if !strings.HasPrefix(got, "started") {
		c.t.Fatalf("application said %q", got)
	}
	c.cpus = got[strings.LastIndexByte(got, ' ')+1:]
}

func (c *client) line() string {
	s, _ := c.out.ReadString('\n')
	return strings.TrimSpace(s)
}

// wait returns the exit status.
func (c *client) wait() int {
	_, _ = io.Copy(io.Discard, c.out)
	_ = c.cmd.Wait()
	return c.cmd.ProcessState.ExitCode()
}

func (c *client) say(m appipc.Control) {
	testwait.Until(c.t, "the last message to be read", func() bool { return c.ipc.Send(appipc.ControlRequest, string(m)) })
}

// status waits for the next report.
func (c *client) status() (s appipc.Status) {
	testwait.Until(c.t, "a report", func() bool {
		text, ok := c.ipc.Receive(appipc.AppStatus)
		s = appipc.ParseStatus(text)
		return ok
	})
	return s
}

func TestFinish(t *testing.T) {
	// An application that ends does not wait until its last report is received, so that may be
	// lost, though rarely.
	const attempts = 50
	var last appipc.Status
	for range attempts {
		last = finish(t)
		if last.FractionDone > 0 {
			break
		}
	}
	if last.CPUTime != 103*time.Second || last.CheckpointCPUTime != 103*time.Second || last.FractionDone != 0.5 {
		t.Errorf("last status of %d: got %+v", attempts, last)
	}
}

// finish runs an application to its end, and returns the last report that was received.
func finish(t *testing.T) (last appipc.Status) {
	t.Helper()
	c := newClient(t, nil)
	c.write("in", appipc.SoftLink("in_1.txt"))
	c.write("in_1.txt", []byte("work"))
	c.write("out", appipc.SoftLink("result_0"))
	c.start("finish")
	ended := make(chan int)
	go func() { ended <- c.wait() }()
	receive := func() {
		if text, ok := c.ipc.Receive(appipc.AppStatus); ok {
			last = appipc.ParseStatus(text)
		}
	}
	testwait.Until(t, "the application to end", func() bool {
		receive()
		select {
		case exit := <-ended:
			if exit != 0 {
				t.Fatalf("exit status %d: %s", exit, c.read(appipc.StderrFile))
			}
			return true
		default:
			return false
		}
	})
	receive()
	if got := c.read("result_0"); got != "did work" {
		t.Errorf("output: got %q", got)
	}
	if got := c.read(appipc.FinishFile); got != "0\n" {
		t.Errorf("finish file: got %q", got)
	}
	if got := c.read(appipc.LockFile); got != "absent" {
		t.Error("lock file left behind")
	}
	return last
}

func TestSuspendResumeQuit(t *testing.T) {
	c := newClient(t, func(d *appipc.InitData) { d.FractionDoneStart, d.FractionDoneEnd = 0.5, 1 })
	c.start("work")
	if st := c.status(); st.CPUTime != 103*time.Second {
		t.Errorf("got %+v", st)
	}
	for st := c.status(); st.FractionDone != 0.625; st = c.status() {
		if st.FractionDone != 0 {
			t.Fatalf("fraction of a run that is the second half: got %v", st.FractionDone)
		}
	}
	c.say(appipc.Suspend)
	if got := c.line(); got != "suspended true" {
		t.Errorf("got %q", got)
	}
	c.ipc.Receive(appipc.AppStatus)
	c.say(appipc.Resume)
	if got := c.line(); got != "suspended false" {
		t.Errorf("got %q", got)
	}
	c.status()
	c.say(appipc.Quit)
	if got := c.line(); got != "yield: "+ErrQuit.Error() {
		t.Errorf("got %q", got)
	}
	if got := c.wait(); got != 0 || c.read(appipc.FinishFile) != "absent" {
		t.Errorf("exit status %d, finish file %q", got, c.read(appipc.FinishFile))
	}
}

func TestEndings(t *testing.T) {
	for _, e := range []struct {
		name   string
		work   string
		say    []appipc.Control
		status int
		finish string
	}{
		{"abort", "work", []appipc.Control{appipc.Abort}, 194, "absent"},
		{"quit while suspended", "work", []appipc.Control{appipc.Suspend, appipc.Quit}, 0, "absent"},
		{"abort while suspended", "work", []appipc.Control{appipc.Suspend, appipc.Abort}, 194, "absent"},
		{"quit of work that never yields", "deaf", []appipc.Control{appipc.Quit}, 0, "absent"},
		{"abort of work that never yields", "deaf", []appipc.Control{appipc.Abort}, 194, "absent"},
		{"an error", "fail", nil, 1, "1\n"},
		{"an error with a status", "status", nil, 42, "42\n"},
	} {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			c := newClient(t, nil)
			c.start(e.work)
			for _, m := range e.say {
				c.say(m)
			}
			if got := c.wait(); got != e.status {
				t.Errorf("exit status: got %d, want %d", got, e.status)
			}
			if got := c.read(appipc.FinishFile); got != e.finish {
				t.Errorf("finish file: got %q, want %q", got, e.finish)
			}
		})
	}
}

func TestErrorsReachStderr(t *testing.T) {
	c := newClient(t, nil)
	c.start("fail")
	c.wait()
	if got := c.read(appipc.StderrFile); !strings.Contains(got, "input is no number") {
		t.Errorf("stderr: %q", got)
	}
}

func TestTemporaryExit(t *testing.T) {
	c := newClient(t, nil)
	c.start("later")
	if got := c.wait(); got != 0 {
		t.Errorf("exit status %d", got)
	}
	te, ok := appipc.ParseTemporaryExit([]byte(c.read(appipc.TemporaryExitFile)))
	if !ok || te.Delay != time.Minute || te.Reason != "no GPU" {
		t.Errorf("got %+v %v", te, ok)
	}
}

// deadProcess returns the ID of a process that has just ended.
func deadProcess(t *testing.T) int {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, "-test.run=^$")
	if err := cmd.Run(); err != nil {
		t.Skip(err)
	}
	return cmd.Process.Pid
}

func TestLostClient(t *testing.T) {
	for _, e := range []struct {
		name      string
		pid       int
		suspended bool
	}{
		{"process is gone", deadProcess(t), false},
		{"process is gone while suspended", deadProcess(t), true},
		{"no heartbeat from a client without pid", 0, false},
		{"no heartbeat while suspended", 0, true},
	} {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			c := newClient(t, func(d *appipc.InitData) { d.ClientPID = e.pid })
			if e.suspended {
				c.ipc.Send(appipc.ControlRequest, string(appipc.Suspend))
			}
			c.start("work")
			if got := c.wait(); got != 0 || c.read(appipc.FinishFile) != "absent" {
				t.Errorf("exit status %d, finish file %q", got, c.read(appipc.FinishFile))
			}
			if got := c.read(appipc.StderrFile); !strings.Contains(got, "exiting") {
				t.Errorf("stderr: %q", got)
			}
		})
	}
}

func TestSecondInstanceLeavesTheSlot(t *testing.T) {
	c := newClient(t, nil)
	c.start("work")
	exe, _ := os.Executable()
	second := exec.Command(exe, "application", "finish")
	second.Dir = c.dir
	if err := second.Run(); err != nil {
		t.Error(err)
	}
	if te, ok := appipc.ParseTemporaryExit([]byte(c.read(appipc.TemporaryExitFile))); !ok || te.Delay != lockRetry {
		t.Errorf("got %+v %v", te, ok)
	}
	c.say(appipc.Quit)
	c.wait()
}

func TestStandalone(t *testing.T) {
	for name, prepare := range map[string]func(*client){
		"without a client": func(c *client) {
			_ = os.Remove(filepath.Join(c.dir, appipc.InitDataFile))
		},
		"with a client that offers no mapped file": func(c *client) {
			c.write(appipc.InitDataFile, []byte("<app_init_data>\n</app_init_data>\n"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newClient(t, nil)
			prepare(c)
			c.write("in", []byte("x"))
			c.start("finish")
			if got := c.wait(); got != 0 || c.read("out") != "did x" || c.read(appipc.FinishFile) != "0\n" {
				t.Errorf("exit status %d, output %q, finish file %q", got, c.read("out"), c.read(appipc.FinishFile))
			}
		})
	}
}

func TestCPUs(t *testing.T) {
	usedBy := func(cpus float64) string {
		c := newClient(t, func(d *appipc.InitData) { d.NCPUs = cpus })
		c.start("work")
		c.say(appipc.Quit)
		c.wait()
		return c.cpus
	}
	t.Setenv("GOMAXPROCS", "")
	all := runtime.NumCPU()
	for cpus, want := range map[float64]int{0.1: 1, 1: 1, 1.5: min(2, all), 1e18: all} {
		if got := usedBy(cpus); got != strconv.Itoa(want) {
			t.Errorf("a task with %v CPUs uses %s, want %d", cpus, got, want)
		}
	}
	t.Setenv("GOMAXPROCS", "5")
	if got := usedBy(1); got != "5" {
		t.Errorf("with GOMAXPROCS=5: got %s", got)
	}
}

func TestCheckpointInterval(t *testing.T) {
	a := &App{opts: Options{CPUTime: func() time.Duration { return 0 }}}
	a.init.CheckpointPeriod = time.Hour
	a.lastSaved = time.Now().Add(-2 * time.Hour)
	if !a.TimeToCheckpoint() {
		t.Error("no checkpoint after two hours")
	}
	a.CheckpointCompleted()
	if a.TimeToCheckpoint() {
		t.Error("a checkpoint right after the last")
	}
}
