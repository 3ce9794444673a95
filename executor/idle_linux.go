package executor

import (
	"os"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

// onlyIdle has the kernel give the process CPUs that nothing else wants, as
// BOINC's client does: niceness alone leaves it a share. It acts on all threads
// that there are; those to come inherit it.
func onlyIdle(pid int) error {
	const schedIdle = 5
	tasks, err := os.ReadDir("/proc/" + strconv.Itoa(pid) + "/task")
	if err != nil {
		return err
	}
	for _, t := range tasks {
		tid, err := strconv.Atoi(t.Name())
		if err != nil {
			continue
		}
		var param struct{ priority int32 }
		_, _, errno := unix.RawSyscall(unix.SYS_SCHED_SETSCHEDULER, uintptr(tid), schedIdle, uintptr(unsafe.Pointer(&param))) //nolint:gosec // as the call wants it
		if errno != 0 && errno != unix.ESRCH {
			return os.NewSyscallError("sched_setscheduler", errno)
		}
	}
	return nil
}
