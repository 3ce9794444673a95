package executor

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// A task runs only on the CPUs that are meant for tasks, with all of its threads.
func TestCPUsOfATask(t *testing.T) {
	t.Parallel()
	var mine unix.CPUSet
	must(t, unix.SchedGetaffinity(0, &mine))
	last := -1
	for n := range 1024 {
		if mine.IsSet(n) {
			last = n
		}
	}
	b := newBench(t)
	task := b.task("wait")
	task.CPUs = []int{last}
	b.start(task)
	b.appears("working")
	dir := fmt.Sprintf("/proc/%d/task", b.Progress()["r_0"].PID)
	threads, err := os.ReadDir(dir)
	if err != nil || len(threads) < 2 {
		t.Fatalf("%d threads, %v", len(threads), err)
	}
	for _, th := range threads {
		if status := b.read(filepath.Join(dir, th.Name(), "status")); !strings.Contains(status, fmt.Sprintf("\nCpus_allowed_list:\t%d\n", last)) {
			t.Errorf("thread %s: %s", th.Name(), status)
		}
	}
	_ = b.Quit("r_0")
	b.exited()
}
