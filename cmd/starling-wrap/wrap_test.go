//go:build unix

package main

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/starling-grid/starling/internal/mmapfile"
	"github.com/starling-grid/starling/internal/testerr"
	"github.com/starling-grid/starling/internal/testwait"
	"github.com/starling-grid/starling/protocol/appipc"
)

// TestMain lets the test binary be the wrapper.
func TestMain(m *testing.M) {
	if os.Getenv("WRAP_TEST") != "" {
		os.Unsetenv("WRAP_TEST")
		main()
	}
	os.Setenv("GORACE", "atexit_sleep_ms=0") // or each wrapper takes a second to end under -race
	os.Exit(m.Run())
}

// A task is a slot with a wrapper and a shell script as the plain program.
type task struct {
	t   *testing.T
	dir string
	ipc appipc.Channels
	cmd *exec.Cmd
}

func newTask(t *testing.T, script string, args ...string) *task {
	t.Helper()
	k := &task{t: t, dir: t.TempDir()}
	d := appipc.DefaultInitData()
	d.ClientPID = os.Getpid()
	k.write(appipc.InitDataFile, string(d.Encode()))
	k.write(appipc.MmapFile, string(make([]byte, appipc.MmapSize)))
	k.write("program_1", "#!/bin/sh\n"+script)
	k.write(programName, string(appipc.SoftLink("./program_1")))
	f, err := os.OpenFile(filepath.Join(k.dir, appipc.MmapFile), os.O_RDWR, 0)
	must(t, err)
	defer f.Close()
	mem, err := mmapfile.Map(f, appipc.MmapSize)
	must(t, err)
	t.Cleanup(func() { _ = mmapfile.Unmap(mem) })
	if k.ipc, err = appipc.NewChannels(mem); err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	must(t, err)
	k.cmd = exec.Command(exe, args...)
	k.cmd.Dir = k.dir
	k.cmd.Env = append(os.Environ(), "WRAP_TEST=1")
	return k
}

func (k *task) write(name, text string) {
	k.t.Helper()
	if err := os.WriteFile(filepath.Join(k.dir, name), []byte(text), 0o700); err != nil {
		k.t.Fatal(err)
	}
}

func (k *task) read(name string) string {
	b, err := os.ReadFile(filepath.Join(k.dir, name))
	if err != nil {
		return "absent"
	}
	return string(b)
}

func (k *task) start() {
	k.t.Helper()
	stderr, err := os.Create(filepath.Join(k.dir, appipc.StderrFile))
	if err != nil {
		k.t.Fatal(err)
	}
	defer stderr.Close()
	k.cmd.Stderr = stderr
	if err := k.cmd.Start(); err != nil {
		k.t.Fatal(err)
	}
	k.t.Cleanup(func() { _ = k.cmd.Process.Kill() })
}

func (k *task) wait() int {
	_ = k.cmd.Wait()
	return k.cmd.ProcessState.ExitCode()
}

func (k *task) say(m appipc.Control) {
	testwait.Until(k.t, "the last message to be read", func() bool { return k.ipc.Send(appipc.ControlRequest, string(m)) })
}

// pid waits for the script to write its process's id.
func (k *task) pid() (n int) {
	testwait.Try(k.t, k.t.Context(), "a process's id", func() (err error) {
		n, err = strconv.Atoi(strings.TrimSpace(k.read("pid")))
		return err
	})
	return n
}

const work = "echo $$ > pid.new; mv pid.new pid; while :; do :; done\n"

// state waits until the process is in one of these states, as ps names them, or gone for "".
func state(t *testing.T, pid int, want string) {
	t.Helper()
	testwait.Until(t, fmt.Sprintf("state %q", want), func() bool {
		b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		_, rest, _ := strings.Cut(string(b), ") ")
		return err != nil && (want == "" || syscall.Kill(pid, 0) != nil) || err == nil && strings.Contains(want, rest[:1]) ||
			want == "" && strings.HasPrefix(rest, "Z")
	})
}

func TestPlainProgram(t *testing.T) {
	for _, c := range []struct {
		name, script string
		status       int
		finish       string
	}{
		{"success", "exit 0", 0, "0\n"},
		{"failure", "exit 7", 7, "7\n"},
		{"crash", "ulimit -c 0; kill -SEGV $$", 193, "193\n"},
		{"killed from outside", "kill -TERM $$", 0, "absent"},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := newTask(t, "echo to stdout; echo to stderr >&2\n"+c.script)
			k.start()
			if got := k.wait(); got != c.status || k.read(appipc.FinishFile) != c.finish {
				t.Errorf("status %d, finish file %q", got, k.read(appipc.FinishFile))
			}
			if got := k.read("stdout.txt"); got != "to stdout\n" {
				t.Errorf("stdout: %q", got)
			}
			if got := k.read("stderr.txt"); !strings.Contains(got, "to stderr\n") {
				t.Errorf("stderr: %q", got)
			}
		})
	}
}

func TestArgumentsAndStdoutAsAnOutput(t *testing.T) {
	k := newTask(t, `printf '%s.' "$#" "$@"; pwd`, "--x", "two words", "")
	k.write("stdout.txt", string(appipc.SoftLink("result_0")))
	k.start()
	k.wait()
	dir, _ := filepath.EvalSymlinks(k.dir)
	if got, want := k.read("result_0"), "3.--x.two words.."+dir+"\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestProgramIsMissing(t *testing.T) {
	for _, name := range []string{"program_1", programName} {
		k := newTask(t, "")
		_ = os.Remove(filepath.Join(k.dir, name))
		k.start()
		if got := k.wait(); got != exitChildFailed || !strings.Contains(k.read("stderr.txt"), programName) {
			t.Errorf("without %s: status %d: %s", name, got, k.read("stderr.txt"))
		}
	}
}

// TestProgramThatCannotStart expects a project's operator to find the reason in the task's output.
func TestProgramThatCannotStart(t *testing.T) {
	elf, err := os.ReadFile("/bin/sh") // or another kind of program
	must(t, err)
	for content, want := range map[string]string{
		"#!/bin/sh\r\necho\r\n":       "its lines end as on Windows",
		"#!/no/such/interpreter -u\n": "its interpreter /no/such/interpreter is not on this computer",
		"echo\n":                      "nor a script with an interpreter in its first line",
		strings.Replace(string(elf), "/lib64/ld-", "/lib64/no-", 1): "the loader that it names, a part of the C library, is not on this computer",
	} {
		if content == string(elf) {
			continue // its loader has another name
		}
		k := newTask(t, "")
		k.write("program_1", content)
		k.start()
		if got := k.wait(); got != exitChildFailed || !strings.Contains(k.read("stderr.txt"), want) {
			t.Errorf("status %d, want %q: %s", got, want, k.read("stderr.txt"))
		}
	}
}

func TestCopyOfTheProgram(t *testing.T) {
	k := newTask(t, "")
	k.write(programName, "#!/bin/sh\necho copy\n")
	k.start()
	if got := k.wait(); got != 0 || k.read("stdout.txt") != "copy\n" {
		t.Errorf("status %d, stdout %q", got, k.read("stdout.txt"))
	}
}

func TestSuspendAndLeave(t *testing.T) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("looks at processes in /proc")
	}
	for _, c := range []struct {
		name   string
		say    []appipc.Control
		status int
	}{
		{"quit", []appipc.Control{appipc.Quit}, 0},
		{"abort", []appipc.Control{appipc.Abort}, 194},
		{"quit after resume", []appipc.Control{appipc.Suspend, appipc.Resume, appipc.Quit}, 0},
		{"quit while suspended", []appipc.Control{appipc.Suspend, appipc.Quit}, 0},
		{"abort while suspended", []appipc.Control{appipc.Suspend, appipc.Abort}, 194},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			k := newTask(t, work)
			k.start()
			pid := k.pid()
			for _, m := range c.say {
				k.say(m)
				switch m {
				case appipc.Suspend:
					state(t, pid, "T")
				case appipc.Resume:
					state(t, pid, "RS")
				}
			}
			if got := k.wait(); got != c.status || k.read(appipc.FinishFile) != "absent" {
				t.Errorf("status %d, finish file %q", got, k.read(appipc.FinishFile))
			}
			state(t, pid, "")
		})
	}
}

func TestTheProgramDoesNotOutliveTheWrapper(t *testing.T) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("needs Linux")
	}
	for _, s := range []os.Signal{os.Kill, syscall.SIGTERM} {
		k := newTask(t, work)
		k.start()
		pid := k.pid()
		_ = k.cmd.Process.Signal(s)
		k.wait()
		state(t, pid, "")
	}
}

func TestProcessesLeftBehindAreKilled(t *testing.T) {
	k := newTask(t, "sleep 1000 & echo $! > pid")
	k.start()
	if got := k.wait(); got != 0 {
		t.Errorf("status %d", got)
	}
	state(t, k.pid(), "")
}

func TestReportsOfTheProgram(t *testing.T) {
	k := newTask(t, "echo $$ > pid; i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done")
	d := appipc.DefaultInitData()
	d.ClientPID, d.WUCPUTime = os.Getpid(), time.Minute
	k.write(appipc.InitDataFile, string(d.Encode()))
	k.start()
	k.wait()
	text, ok := k.ipc.Receive(appipc.AppStatus)
	if st := appipc.ParseStatus(text); !ok || st.CPUTime <= time.Minute {
		t.Errorf("got %+v %v", st, ok)
	}
}

func TestEstimate(t *testing.T) {
	d := appipc.DefaultInitData()
	d.RscFPOpsEst, d.HostInfo = 100e9, "<p_fpops>1e9</p_fpops>"
	e := newEstimate(d, 1)
	now, last := e.last, 0.0
	for n := 1; n <= 20000; n++ {
		now = now.Add(time.Second)
		f := e.fraction(now, false)
		if f < last || f >= 1 {
			t.Fatalf("after %d s: %v follows %v", n, f, last)
		}
		if last = f; n == 100 && math.Abs(f-0.632) > 0.001 {
			t.Errorf("at the expected time: %v", f)
		}
	}
	e = newEstimate(d, 1)
	if f := e.fraction(e.last.Add(5*time.Second), true); f != 0 {
		t.Errorf("suspended time counts: %v", f)
	}
	if f := e.fraction(e.last.Add(time.Hour), false); f != 0 {
		t.Errorf("sleep counts: %v", f)
	}
	e = newEstimate(appipc.DefaultInitData(), 1)
	if f := e.fraction(e.last.Add(5*time.Second), false); f != 0 {
		t.Errorf("nothing is known, yet: %v", f)
	}
}

var must = testerr.Must
