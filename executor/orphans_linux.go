package executor

import (
	"os"
	"os/exec"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// adoptOrphans makes this process, instead of the system's first, the parent of all processes whose
// own parent has ended. So all processes that applications start remain its descendants.
func adoptOrphans() error {
	err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
	if err == nil {
		adopts.Store(true)
	}
	return err
}

// adopts reports whether adoptOrphans has succeeded.
var adopts atomic.Bool

// waitedFor lists the applications that a goroutine of this process waits for. It is global because
// orphans are adopted by the process as a whole, however many executors it has.
var waitedFor = struct {
	sync.Mutex
	pids map[int]bool
}{pids: make(map[int]bool)}

// begin calls f to start a command, and records that a goroutine waits for it.
func begin(cmd *exec.Cmd, f func() error) error {
	waitedFor.Lock() // reap must not see it before it is recorded
	defer waitedFor.Unlock()
	if err := f(); err != nil {
		return err
	}
	waitedFor.pids[cmd.Process.Pid] = true
	return nil
}

// ended removes a command from waitedFor.
func ended(pid int) {
	waitedFor.Lock()
	defer waitedFor.Unlock()
	delete(waitedFor.pids, pid)
}

// reap waits for adopted processes that have ended. They are recognized by their session: each
// application has a separate session, and the processes that it starts share it or create another.
// Other children of this process are in its own session and have a goroutine that waits for them.
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
			_, _ = unix.Wait4(pid, nil, unix.WNOHANG, nil) // if this fails, the next look finds it again
		}
	}
}
