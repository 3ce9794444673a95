package executor

import (
	"os"
	"os/exec"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// adoptOrphans makes this process the parent of all processes whose own parent
// has ended, instead of the system's first: nothing that an application starts
// leaves the family.
func adoptOrphans() error {
	err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
	if err == nil {
		adopts.Store(true)
	}
	return err
}

// adopts says that this process is that parent.
var adopts atomic.Bool

// waitedFor are the applications that a goroutine of this process waits for. Who
// the parent of a process is concerns the whole process, whatever executors it has.
var waitedFor = struct {
	sync.Mutex
	pids map[int]bool
}{pids: make(map[int]bool)}

// begin starts a command by f and remembers that it is waited for.
func begin(cmd *exec.Cmd, f func() error) error {
	waitedFor.Lock() // reap must not see it before we know it
	defer waitedFor.Unlock()
	if err := f(); err != nil {
		return err
	}
	waitedFor.pids[cmd.Process.Pid] = true
	return nil
}

// ended forgets a command that was waited for.
func ended(pid int) {
	waitedFor.Lock()
	defer waitedFor.Unlock()
	delete(waitedFor.pids, pid)
}

// reap lets go of orphans that have ended. They are known by their session: each
// application has its own, which what it starts shares or leaves for yet another.
// Other children of this process are in its own session, and somebody waits for
// them.
func reap(zombies map[int]relative) {
	waitedFor.Lock()
	defer waitedFor.Unlock()
	self := os.Getpid()
	own, err := unix.Getsid(0)
	if err != nil {
		return
	}
	for pid, z := range zombies {
		if z.parent == self && z.session != own && !waitedFor.pids[pid] {
			_, _ = unix.Wait4(pid, nil, unix.WNOHANG, nil) // or it is looked at again
		}
	}
}
