package executor

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// runOn makes a process run only on the CPUs with these numbers.
func runOn(pid int, cpus []int) error {
	var set unix.CPUSet
	for _, n := range cpus {
		set.Set(n)
	}
	return eachThread(pid, func(tid int) error {
		if err := unix.SchedSetaffinity(tid, &set); err != nil && !errors.Is(err, unix.ESRCH) {
			return os.NewSyscallError("sched_setaffinity", err)
		}
		return nil
	})
}
