package executor

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
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
			const policy = 41 - 3 // the fields are counted from 1, and the first two end with a parenthesis
			if fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:]); fields[policy] != want {
				t.Errorf("thread %s has policy %s, want %s", th.Name(), fields[policy], want)
			}
		}
		_ = b.Quit("r_0")
		b.exited()
	}
}
