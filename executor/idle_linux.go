package executor

import (
	"errors"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// onlyIdle makes the kernel give the process only CPUs that no other program wants, as BOINC's
// client does: niceness alone leaves it a share.
func onlyIdle(pid int) error { return eachThread(pid, idleThread) }

// eachThread changes all current threads of a process in a way that later ones inherit. A thread that
// another one starts just before it is changed does not inherit it, so the threads are listed again
// until there is no new one.
func eachThread(pid int, change func(tid int) error) error {
	dir, done := "/proc/"+strconv.Itoa(pid)+"/task", make(map[int]bool)
	for again := true; again; {
		again = false
		tasks, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		for _, t := range tasks {
			tid, err := strconv.Atoi(t.Name())
			if err != nil || done[tid] {
				continue
			}
			if err := change(tid); err != nil {
				return err
			}
			done[tid], again = true, true
		}
	}
	return nil
}

// idleThread is onlyIdle for one thread, which may have ended.
func idleThread(tid int) error {
	err := unix.SchedSetAttr(tid, &unix.SchedAttr{Policy: unix.SCHED_IDLE, Nice: lowest}, 0)
	if err != nil && !errors.Is(err, unix.ESRCH) {
		return os.NewSyscallError("sched_setattr", err)
	}
	return nil
}
