package executor

import (
	"os"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

// onlyIdle makes the kernel give the process only CPUs that no other program wants, as BOINC's
// client does: niceness alone leaves it a share. It acts on all current threads, and later ones
// inherit it. A thread that another one starts just before it is changed does not inherit it, so
// the threads are listed again until there is no new one.
func onlyIdle(pid int) error {
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
			if err := idleThread(tid); err != nil {
				return err
			}
			done[tid], again = true, true
		}
	}
	return nil
}

// idleThread does the same for one thread, which may have ended.
func idleThread(tid int) error {
	const schedIdle = 5
	var param struct{ priority int32 }
	_, _, errno := unix.RawSyscall(unix.SYS_SCHED_SETSCHEDULER, uintptr(tid), schedIdle, uintptr(unsafe.Pointer(&param))) //nolint:gosec // as the call wants it
	if errno != 0 && errno != unix.ESRCH {
		return os.NewSyscallError("sched_setscheduler", errno)
	}
	return nil
}
