package executor

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// An application gets only CPUs that no other program wants: each of its threads is in the kernel's
// idle class, including those that started later.
func TestIdleClass(t *testing.T) {
	t.Parallel()
	for _, unchanged := range []bool{false, true} {
		b := newBench(t)
		task := b.task("wait")
		task.Init.NoPriorityChange = unchanged
		b.start(task)
		b.appears("working")
		dir := filepath.Join("/proc", strconv.Itoa(b.Progress()["r_0"].PID), "task")
		threads, err := os.ReadDir(dir)
		if err != nil || len(threads) < 2 {
			t.Fatalf("%d threads, %v", len(threads), err)
		}
		want := "5" // SCHED_IDLE
		if unchanged {
			want = "0"
		}
		for _, th := range threads {
			stat := b.read(filepath.Join(dir, th.Name(), "stat"))
			if got := policy(stat); got != want {
				t.Errorf("thread %s has policy %s, want %s", th.Name(), got, want)
			}
		}
		_ = b.Quit("r_0")
		b.exited()
	}
}

// Processes that a program starts at once have its class.
func TestIdleClassOfChildren(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.timing.leave = 100 * time.Millisecond // the shell does not read messages
	b.put("script", "#!/bin/sh\nsleep 1000 &\nsleep 1000 &\nwait\n")
	must(t, os.Chmod(filepath.Join(b.project, "script"), 0o755))
	task := b.task()
	task.Program, task.Args, task.Init.NoPriorityChange = "script", nil, false
	b.start(task)
	pid := strconv.Itoa(b.Progress()["r_0"].PID)
	var children []string
	b.until("both children", func() bool {
		children = strings.Fields(b.read("/proc/" + pid + "/task/" + pid + "/children"))
		return len(children) == 2
	})
	for _, child := range children {
		if stat := b.read("/proc/" + child + "/stat"); policy(stat) != "5" {
			t.Errorf("%s has policy %s", child, policy(stat))
		}
	}
	_ = b.Abort("r_0", 0, "")
	b.exited()
}

// policy returns the scheduling policy in a process's or thread's stat.
func policy(stat string) string {
	const field = 41 - 3 // fields are counted from 1, and the first two end with a parenthesis
	return strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])[field]
}
