package executor

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/installer"
	"github.com/starling-grid/starling/internal/testwait"
)

// inside is the variable that shows a test that it runs in the virtual machine.
const inside = "STARLING_TEST_INSIDE"

// boot is the first program of a Linux with a systemd that only starts a service, as a user without
// rights to whom its control group is delegated. The test for a process without a delegated group
// runs once before that.
const boot = `#!/bin/sh
export PATH=/usr/sbin:/usr/bin:/sbin:/bin TMPDIR=/run HOME=/run
mount -t proc proc /proc && mount -t sysfs sys /sys && mount -t cgroup2 cgroup /sys/fs/cgroup && mount -t tmpfs tmp /run
mkdir -p /run/systemd/system /run/test && chown nobody /run/test && cp %[2]s /run/executor.test && cd /run
%[1]s=alone ./executor.test -test.v -test.run '^TestNothingDelegatedInside$'
cat >/run/systemd/system/%[4]s <<END
%[5]sEND
cat >/run/systemd/system/test.service <<END
[Unit]
DefaultDependencies=no
SuccessAction=poweroff-force
FailureAction=poweroff-force
[Service]
Slice=%[4]s
User=nobody
Delegate=yes
NoNewPrivileges=yes
CapabilityBoundingSet=
Environment=%[1]s=delegated HOME=/run/test TMPDIR=/run/test PATH=/usr/bin:/bin
WorkingDirectory=/run/test
ExecStart=/run/executor.test -test.v -test.timeout 10m -test.run ^TestControlGroupsInside
StandardOutput=tty
StandardError=tty
TTYPath=/dev/console
END
exec %[3]s --system --unit=test.service --show-status=0 --log-level=err
`

// TestControlGroups boots a separate Linux as a process of this one. This computer's control groups
// do not matter, and nothing here is changed.
func TestControlGroups(t *testing.T) {
	t.Parallel()
	const systemd = "/lib/systemd/systemd"
	kernel, err := exec.LookPath("linux.uml")
	if err != nil {
		missing(t, "linux.uml is not installed (Debian: user-mode-linux); control groups are NOT tested")
	}
	if _, err := os.Stat(systemd); err != nil {
		missing(t, "systemd is not installed; control groups are NOT tested")
	}
	dir, err := os.MkdirTemp("/var/tmp", "cgroups") //nolint:usetesting // not in /dev/shm: the virtual machine has a /dev of its own
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	self := filepath.Join(dir, "executor.test")
	build := exec.CommandContext(t.Context(), "go", "test", "-c", "-o", self, ".") // the race detector does not run there
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Skipf("needs the go command: %v: %s", err, out)
	}
	init := filepath.Join(dir, "init")
	must(t, os.WriteFile(init, fmt.Appendf(nil, boot, inside, self, systemd, installer.SliceName, installer.Packaged.Slice()), 0o700))
	cmd := exec.CommandContext(t.Context(), kernel, "mem=512M", "root=/dev/root", "rootfstype=hostfs", "rootflags=/", "ro", "quiet", "con=null", "con0=null,fd:1", "init="+init)
	registers := filepath.Join(dir, "xstate.so")
	if out, err := exec.CommandContext(t.Context(), "cc", "-shared", "-fPIC", "-o", registers, "testdata/xstate.c").CombinedOutput(); err != nil {
		missing(t, fmt.Sprintf("cc does not work: %v: %s; control groups are NOT tested", err, out))
	}
	cmd.Env = append(os.Environ(), "TMPDIR="+dir, "HOME="+dir, "LD_PRELOAD="+registers)
	out, err := cmd.CombinedOutput()
	for _, test := range []string{"TestNothingDelegatedInside", "TestControlGroupsInside"} {
		if !strings.Contains(string(out), "--- PASS: "+test) { // the machine itself may end with a signal
			t.Fatalf("%s: %v\n%s", test, err, out)
		}
	}
}

// missing skips a test, or fails it in CI, where everything must be installed.
func missing(t *testing.T, why string) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatal(why)
	}
	t.Skip(why)
}

// Permission to write to a control group does not mean that it is delegated.
func TestNothingDelegatedInside(t *testing.T) {
	t.Parallel()
	if os.Getenv(inside) != "alone" {
		t.Skip("runs in the virtual machine of TestControlGroups")
	}
	if bounded, err := newBench(t).UseControlGroups(); bounded != "" || err != nil {
		t.Errorf("got %q, %v", bounded, err)
	}
}

func TestControlGroupsInside(t *testing.T) {
	t.Parallel()
	if os.Getenv(inside) != "delegated" {
		t.Skip("runs in the virtual machine of TestControlGroups")
	}
	const (
		slice   = "/sys/fs/cgroup/" + installer.SliceName
		service = slice + "/test.service"
	)
	var b *bench
	use := func(b *bench) {
		t.Helper()
		if bounded, err := b.UseControlGroups(); bounded != "processes cpu memory pids" || err != nil {
			t.Fatalf("got %q, %v", bounded, err)
		}
	}
	slot := filepath.Join(service, "slot-0")
	file := func(name string) string { return strings.TrimSpace(b.read(filepath.Join(slot, name))) }

	t.Run("idle among the slices of the system", func(t *testing.T) {
		b = newBench(t)
		if got := strings.TrimSpace(b.read(slice + "/cpu.idle")); got != "1" {
			t.Errorf("%s has cpu.idle %s", slice, got)
		}
	})
	t.Run("bounds", func(t *testing.T) {
		b = newBench(t)
		use(b)
		b.Allow(Allowance{MostMemory: 100 << 20, Processes: 10})
		task := b.task("wait")
		task.Init.NoPriorityChange = false
		b.start(task)
		b.appears("working")
		if got, want := file("cgroup.procs"), strconv.Itoa(b.Progress()["r_0"].PID); got != want {
			t.Errorf("processes %q, want %s", got, want)
		}
		for name, want := range map[string]string{"memory.max": "104857600", "memory.oom.group": "1", "pids.max": "160", "cpu.weight": "1"} {
			if got := file(name); got != want {
				t.Errorf("%s is %s, want %s", name, got, want)
			}
		}
		b.Allow(Allowance{MostMemory: 200 << 20, Processes: 10})
		testwait.Until(t, "another limit", func() bool { return file("memory.max") == "209715200" })
		_ = b.Quit("r_0")
		if e := b.exited(); e.Verdict != WillRestart || file("cgroup.procs") != "absent" {
			t.Errorf("got %+v, left %s", e, file("cgroup.procs"))
		}
	})
	t.Run("limited CPU time", func(t *testing.T) {
		b = newBench(t)
		use(b)
		b.Allow(Allowance{CPU: 20})
		b.timing.leave = 100 * time.Millisecond // the shell does not read messages
		b.program("#!/bin/sh\ni=0; while :; do i=$((i+1)); echo $i >ticks; done\n")
		task := b.task()
		task.Init.NCPUs = 2
		b.start(task)
		b.ticking("ticks")
		testwait.Until(t, "a quota", func() bool { return file("cpu.max") == "40000 100000" })
		if strings.Contains(file("cgroup.events"), "frozen 1") {
			t.Error("a run that the kernel limits is stopped")
		}
		before, begin := b.Progress()["r_0"].Elapsed, time.Now()
		b.progress(func(p Progress) bool { return p.Elapsed > before+50*time.Millisecond })
		if d := time.Since(begin); d < 200*time.Millisecond {
			t.Errorf("50 ms at full speed took %v, limited to a fifth", d)
		}
		b.Allow(Allowance{})
		testwait.Until(t, "no quota", func() bool { return file("cpu.max") == "max 100000" })
		_ = b.Quit("r_0")
		b.exited()
	})
	t.Run("memory", func(t *testing.T) {
		b = newBench(t)
		b.timing.poll = time.Hour // the agent does not poll
		use(b)
		b.Allow(Allowance{MostMemory: 32 << 20})
		b.start(b.task("memory"))
		if e := b.exited(); e.Verdict != Aborted || e.ExitStatus != 198 || !strings.Contains(e.Message, "ended by the system at 32.00MB") {
			t.Errorf("got %+v", e)
		}
	})
	t.Run("processes", func(t *testing.T) {
		b = newBench(t)
		b.timing.poll = time.Hour
		use(b)
		b.Allow(Allowance{Processes: 1})
		b.program("#!/bin/sh\nfor i in $(seq 50); do sleep 60 & done\n")
		b.start(b.task())
		if e := b.exited(); e.Verdict != ComputeError || !strings.Contains(e.Stderr, "fork") {
			t.Errorf("got %+v", e)
		}
	})
	t.Run("suspended and resumed", func(t *testing.T) {
		b = newBench(t)
		b.timing.unresponsive = 20 * time.Millisecond
		use(b)
		b.program("#!/bin/sh\n(i=0; while :; do i=$((i+1)); echo $i >child_ticks; done) &\ni=0; while :; do i=$((i+1)); echo $i >ticks; done\n")
		b.start(b.task())
		b.ticking("child_ticks")
		_ = b.Suspend("r_0")
		testwait.Until(t, "a frozen group", func() bool { return strings.Contains(file("cgroup.events"), "frozen 1") })
		b.still("ticks")
		_ = b.Resume("r_0")
		b.ticking("ticks")
		b.ticking("child_ticks")
		_ = b.Suspend("r_0")
		_ = b.Quit("r_0")
		if e := b.exited(); e.Verdict != WillRestart || file("cgroup.procs") != "absent" {
			t.Errorf("got %+v", e)
		}
	})
	t.Run("processor time of what has gone", func(t *testing.T) {
		b = newBench(t)
		use(b)
		b.program("#!/bin/sh\n(setsid sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; >done' &)\nwhile [ ! -e done ]; do sleep 0.1; done\necho 0 >boinc_finish_called; echo >out\n")
		task := b.task()
		task.Files[1].Copy = true
		b.start(task)
		if e := b.exited(); e.Verdict != Success || e.CPUTime < 100*time.Millisecond {
			t.Errorf("got %+v", e)
		}
	})
	t.Run("left by an agent that was killed", func(t *testing.T) {
		b = newBench(t)
		use(b)
		b.start(b.task("wait"))
		b.appears("working")
		pid := b.Progress()["r_0"].PID
		next := newBench(t)
		use(next)
		gone(t, pid)
		b.exited()
	})
}
