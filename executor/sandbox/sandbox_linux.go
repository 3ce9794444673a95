package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/landlock-lsm/go-landlock/landlock"
	llsys "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// exitNotStarted is the exit status of a program that could not be started, as
// shells have it.
const exitNotStarted = 127

// pipe is the file descriptor through which a failure is told.
const pipe = 3

// Main must be called first in a program that wraps others. It returns at once
// unless the process is to become another program, and then it does not return.
func Main() {
	if len(os.Args) < 3 || os.Args[1] != marker {
		return
	}
	runtime.LockOSThread() // what it keeps of root's rights is the thread's
	unix.CloseOnExec(pipe)
	what, err := become(os.Args[2], os.Args[3:])
	number := 0
	if e, ok := errors.AsType[unix.Errno](err); ok {
		number = int(e)
	} else {
		what += ": " + err.Error()
	}
	_, _ = unix.Write(pipe, fmt.Appendf(nil, "%d %s", number, what))
	os.Exit(exitNotStarted)
}

// become returns only when something failed: what, and how.
func become(program string, args []string) (what string, err error) {
	var p Policy
	if err := json.Unmarshal([]byte(os.Getenv(variable)), &p); err != nil {
		return "sandbox policy", err
	}
	if err := os.Unsetenv(variable); err != nil {
		return "sandbox policy", err
	}
	if err := restrict(p); err != nil {
		return "sandbox", err
	}
	if err := restrictSyscalls(p.Network); err != nil {
		return "sandbox: system calls", err
	}
	return program, unix.Exec(program, append([]string{program}, args...), os.Environ())
}

// restrict takes away from this process, for good, what the policy does not give.
func restrict(p Policy) error {
	if p.FileBytes > 0 {
		limit := unix.Rlimit{Cur: uint64(p.FileBytes), Max: uint64(p.FileBytes)}
		if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &limit); err != nil {
			return fmt.Errorf("file size: %w", err)
		}
	}
	if p.MoreTasks > 0 {
		if err := boundTasks(p.MoreTasks); err != nil {
			return fmt.Errorf("number of processes: %w", err)
		}
	}
	if err := unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}); err != nil {
		return fmt.Errorf("core files: %w", err)
	}
	if err := dropCapabilities(); err != nil {
		return fmt.Errorf("capabilities: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no new privileges: %w", err)
	}
	rules := []landlock.Rule{}
	for _, path := range p.Read {
		rules = append(rules, rule(path, false)...)
	}
	for _, path := range p.Write {
		rules = append(rules, rule(path, true)...)
	}
	c := landlock.V6.BestEffort()
	if p.Network {
		return errors.Join(c.RestrictPaths(rules...), c.RestrictScoped())
	}
	return c.Restrict(rules...)
}

// dropCapabilities leaves to root's programs what concerns files and their own
// processes. It acts on this thread and on what it becomes.
func dropCapabilities() error {
	kept := []uintptr{unix.CAP_CHOWN, unix.CAP_DAC_OVERRIDE, unix.CAP_FOWNER, unix.CAP_FSETID, unix.CAP_KILL}
	for c := range uintptr(64) {
		if slices.Contains(kept, c) {
			continue
		}
		switch has, err := unix.PrctlRetInt(unix.PR_CAPBSET_READ, c, 0, 0, 0); {
		case errors.Is(err, unix.EINVAL): // there are no more
			return nil
		case err != nil:
			return err
		case has == 0:
			continue
		}
		err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0)
		if errors.Is(err, unix.EPERM) {
			return nil // an ordinary user has none to drop, and with no_new_privs gains none
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// boundTasks has this process and its children start no others while their user
// has so many more processes and threads than now.
func boundTasks(more int) error {
	n := uint64(max(0, more))
	threads, err := filepath.Glob("/proc/[0-9]*/task/*")
	if err != nil {
		return err
	}
	for _, t := range threads {
		var st unix.Stat_t
		if unix.Stat(t, &st) == nil && int(st.Uid) == os.Getuid() {
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

// rule gives access to a path, if it is there.
func rule(path string, write bool) []landlock.Rule {
	st, err := os.Stat(path)
	switch {
	case err != nil:
		return nil
	case st.IsDir() && write:
		return []landlock.Rule{landlock.RWDirs(path).WithRefer()}
	case st.IsDir():
		return []landlock.Rule{landlock.RODirs(path)}
	case write:
		return []landlock.Rule{landlock.RWFiles(path)}
	}
	return []landlock.Rule{landlock.ROFiles(path)}
}

// Level tells what is enforced here, in words for people, and whether that is
// anything.
func Level() (words string, enforced bool) {
	v, err := llsys.LandlockGetABIVersion()
	if err != nil || v <= 0 {
		return "none: this kernel has no Landlock (Linux 5.13 and later, switched on)", false
	}
	can := []string{"files"}
	if v >= 4 {
		can = append(can, "TCP connections")
	}
	if v >= 6 {
		can = append(can, "signals to other programs")
	}
	words = fmt.Sprintf("Landlock, version %d: %s", v, strings.Join(can, ", "))
	if filtered {
		words += "; seccomp: system calls, sockets, what is typed at terminals"
	}
	return words, true
}
