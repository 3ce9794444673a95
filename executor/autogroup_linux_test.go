package executor

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
)

// autogroups skips a test where the kernel does not group processes by session.
func autogroups(t testing.TB) {
	t.Helper()
	if b, err := os.ReadFile("/proc/sys/kernel/sched_autogroup_enabled"); err != nil || strings.TrimSpace(string(b)) != "1" {
		t.Skip("this kernel does not group processes by session (sched_autogroup_enabled)")
	}
}

// autogroup returns the kernel's description of a process's session, such as "/autogroup-12 nice
// 19".
func autogroup(pid int) string {
	text, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/autogroup")
	return strings.TrimSpace(string(text))
}

// awaitNice waits until the session of a process has this niceness.
func (b *bench) awaitNice(pid, nice int) {
	b.t.Helper()
	want := fmt.Sprint(" nice ", nice)
	b.until("a session with"+want, func() bool { return strings.HasSuffix(autogroup(pid), want) })
}

// The session of an application gives way to all others, and so does a session that its program
// makes. Many sessions may start at once, and users other than root may change them only slowly.
func TestSessionsGiveWay(t *testing.T) {
	autogroups(t)
	b := newBench(t)
	b.program("#!/bin/sh\nsetsid sleep 1000 &\nprintf %s $! >child.new\nmv child.new child\nwait\n")
	for slot := range 3 {
		task := b.task()
		task.Result, task.Slot = fmt.Sprint("r_", slot), slot
		task.Files[1].Physical = task.Result + "_0"
		task.Init.NoPriorityChange = false
		b.start(task)
	}
	b.appears("child")
	child, err := strconv.Atoi(b.read(b.slotFile("child")))
	must(t, err)
	b.awaitNice(child, 19)
	for slot := range 3 {
		b.awaitNice(b.Progress()[fmt.Sprint("r_", slot)].PID, 19)
	}
}

// A task that keeps its priority keeps the priority of its session, and the agent's own session is
// not changed.
func TestSessionsThatKeepTheirPriority(t *testing.T) {
	autogroups(t)
	before := autogroup(os.Getpid())
	b := newBench(t)
	b.start(b.task("wait"))
	b.polled(2)
	if got := autogroup(b.Progress()["r_0"].PID); !strings.HasSuffix(got, " nice 0") {
		t.Errorf("got %q", got)
	}
	if now := autogroup(os.Getpid()); now != before {
		t.Errorf("the session of this process was changed from %q to %q", before, now)
	}
}
