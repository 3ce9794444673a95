package executor

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/starling-grid/starling/protocol/appipc"
)

// A layout is the environment of a task and of the foreground program that it competes with.
type layout struct {
	name    string
	cpus    int  // that both can fill
	apart   bool // each has a separate session, as under an agent
	lowered bool // the task's session gives way
	// Control groups below the root, or "" for this process's group. The group idle has the
	// kernel's idle weight (cpu.idle).
	foreground, task, idle string
}

// BenchmarkShare prints the share of CPU time that tasks of the idle class take from a busy
// foreground program, in percent. Up to 2 goes unnoticed. It is 50 where sessions or control groups
// hide the class. Layouts that this computer does not support are skipped.
//
//	go test ./executor -run '^$' -bench '^BenchmarkShare$' -benchtime 1x
func BenchmarkShare(b *testing.B) {
	const user, service = "starling-test-user", "starling-test-service"
	all := runtime.NumCPU()
	for _, l := range []layout{
		{name: "same session", cpus: 1},
		{name: "own session", cpus: 1, apart: true},
		{name: "own session that gives way", cpus: 1, apart: true, lowered: true},
		{name: "own session that gives way, all CPUs", cpus: all, apart: true, lowered: true},
		{name: "idle unit in system.slice", cpus: 1, apart: true, lowered: true, foreground: user, task: service + "/unit", idle: service + "/unit"},
		{name: "idle slice of its own", cpus: 1, apart: true, lowered: true, foreground: user, task: service + "/unit", idle: service},
		{name: "idle slice of its own, all CPUs", cpus: all, apart: true, lowered: true, foreground: user, task: service + "/unit", idle: service},
	} {
		b.Run(l.name, func(b *testing.B) {
			if l.apart && l.task == "" {
				autogroups(b)
			}
			var task, both time.Duration
			for range b.N {
				t, f := l.compete(b)
				task, both = task+t, both+t+f
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(100*task.Seconds()/both.Seconds(), "%share")
		})
	}
}

// compete makes both compute for two seconds and returns the CPU time that each got.
func (l layout) compete(b *testing.B) (task, foreground time.Duration) {
	b.Helper()
	root := l.groups(b)
	busy, idle := l.hog(b, root, l.foreground), l.hog(b, root, l.task)
	init := appipc.DefaultInitData()
	must(b, lowerPriority(idle.cmd.Process.Pid, init))
	if l.lowered {
		new(sessions).lower(idle.cmd.Process.Pid, niceOf(init))
	}
	busy.compute(b)
	idle.compute(b)
	<-time.After(2 * time.Second) // the time that is measured
	return idle.end(), busy.end()
}

// A hog is a program that fills CPUs.
type hog struct {
	cmd *exec.Cmd
	in  io.WriteCloser
}

// hog starts a hog that waits for compute.
func (l layout) hog(b *testing.B, root, group string) hog {
	b.Helper()
	cmd := exec.Command("taskset", "-c", "0-"+strconv.Itoa(l.cpus-1), os.Args[0], "application", "hog", strconv.Itoa(l.cpus))
	if cmd.SysProcAttr = (&syscall.SysProcAttr{Setpgid: true}); l.apart {
		ownGroup(cmd)
	}
	in, err := cmd.StdinPipe()
	must(b, err)
	must(b, cmd.Start())
	h := hog{cmd, in}
	b.Cleanup(func() { h.end() })
	if group != "" {
		must(b, write(filepath.Join(root, group), "cgroup.procs", strconv.Itoa(cmd.Process.Pid)))
	}
	return h
}

func (h hog) compute(b *testing.B) {
	b.Helper()
	must(b, h.in.Close())
}

// end ends the hog and returns the CPU time that it has used.
func (h hog) end() time.Duration {
	_ = h.cmd.Process.Kill()
	_ = h.cmd.Wait()
	return h.cmd.ProcessState.UserTime() + h.cmd.ProcessState.SystemTime()
}

// groups makes the layout's control groups for the duration of the benchmark, and returns their
// root.
func (l layout) groups(b *testing.B) (root string) {
	b.Helper()
	if l.task == "" {
		return ""
	}
	root = "/sys/fs/cgroup"
	can, _ := os.ReadFile(root + "/cgroup.controllers")
	if v2 := bytes.Contains(can, []byte("cpu ")); !v2 {
		root += "/cpu" // version 1
	} else if err := write(root, "cgroup.subtree_control", "+cpu"); err != nil {
		b.Skip("control groups are not this process's to make: ", err)
	}
	for _, name := range []string{l.foreground, filepath.Dir(l.task), l.task} {
		dir := filepath.Join(root, name)
		if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
			b.Skip("control groups are not this process's to make: ", err)
		}
		b.Cleanup(func() {
			for unix.Rmdir(dir) == unix.EBUSY {
			}
		})
		if name == filepath.Dir(l.task) {
			_ = write(dir, "cgroup.subtree_control", "+cpu") // version 2
		}
	}
	if err := write(filepath.Join(root, l.idle), "cpu.idle", "1"); err != nil {
		b.Skip("this kernel has no idle control groups: ", err)
	}
	return root
}
