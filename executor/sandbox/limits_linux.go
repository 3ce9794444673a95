package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// limit sets limits that this process and its children cannot raise.
func limit(p Policy) error {
	if p.FileBytes > 0 {
		limit := unix.Rlimit{Cur: uint64(p.FileBytes), Max: uint64(p.FileBytes)}
		if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &limit); err != nil {
			return fmt.Errorf("file size: %w", err)
		}
	}
	if p.MoreTasks > 0 {
		user := p.User
		if user == 0 {
			user = os.Getuid()
		}
		if err := boundTasks(user, p.MoreTasks); err != nil {
			return fmt.Errorf("number of processes: %w", err)
		}
	}
	if err := unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}); err != nil {
		return fmt.Errorf("core files: %w", err)
	}
	giveWay(p)
	if p.Mark != 0 {
		if err := setMark(p.Mark); err != nil {
			return fmt.Errorf("mark: %w", err)
		}
	}
	return nil
}

// giveWay sets the priority and the CPUs of the current thread, and so of the program and all processes that it starts.
// If they were set later, from outside, processes that it has started by then would keep theirs.
func giveWay(p Policy) {
	if p.Nice != 0 {
		_ = unix.Setpriority(unix.PRIO_PROCESS, 0, p.Nice)
	}
	if p.Idle {
		_ = unix.SchedSetAttr(0, &unix.SchedAttr{Policy: unix.SCHED_IDLE, Nice: int32(p.Nice)}, 0) //nolint:gosec // below 20
	}
	if len(p.CPUs) > 0 {
		var set unix.CPUSet
		for _, n := range p.CPUs {
			set.Set(n)
		}
		_ = unix.SchedSetaffinity(0, &set)
	}
}

// dropCapabilities ensures that the program that this process becomes has none of root's
// capabilities. It acts on the current thread.
func dropCapabilities() error {
	_ = unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) // they do not exist before Linux 4.3
	if err := inheritNone(); err != nil {
		return err
	}
	for c := range uintptr(64) {
		switch has, err := unix.PrctlRetInt(unix.PR_CAPBSET_READ, c, 0, 0, 0); {
		case errors.Is(err, unix.EINVAL): // this was the last capability
			return nil
		case err != nil:
			return err
		case has == 0:
			continue
		}
		err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0)
		if errors.Is(err, unix.EPERM) {
			return nil // an ordinary user does not have any to drop, and cannot gain any with no_new_privs
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// inheritNone empties the set of capabilities that root's programs inherit whatever else they have.
func inheritNone() error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var sets [2]unix.CapUserData
	if err := unix.Capget(&header, &sets[0]); err != nil {
		return err
	}
	sets[0].Inheritable, sets[1].Inheritable = 0, 0
	return unix.Capset(&header, &sets[0])
}

// boundTasks prevents this process and its children from starting others while their user has more
// processes and threads than the current number plus more.
func boundTasks(user, more int) error {
	n := uint64(max(0, more))
	threads, err := filepath.Glob("/proc/[0-9]*/task/*")
	if err != nil {
		return err
	}
	for _, t := range threads {
		var st unix.Stat_t
		if unix.Stat(t, &st) == nil && int(st.Uid) == user {
			n++
		}
	}
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NPROC, &limit); err != nil {
		return err
	}
	limit.Max = min(limit.Max, n)
	limit.Cur = min(limit.Cur, limit.Max)
	return unix.Setrlimit(unix.RLIMIT_NPROC, &limit)
}
