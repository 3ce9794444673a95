package executor

import (
	"os"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/windows"
)

// programName is that of the test binary in the project's folder.
const programName = "app_1.0.exe"

// crash ends an application as one that touches memory that it does not have. Go's runtime
// would turn that into an exit status of its own.
func crash() {
	_ = windows.TerminateProcess(windows.CurrentProcess(), 0xC0000005)
}

// crashed is what an agent makes of that.
const (
	crashedStatus  = -1073741819
	crashedMessage = "0xc0000005): access violation"
)

// apart starts a child that gets no Ctrl-C of its parent's.
func apart() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
}

// burn uses enough CPU time for a checkpoint to be told from the last.
func burn() {
	for user := int64(0); user < int64(20*time.Millisecond); {
		var created, exited, kernel, used windows.Filetime
		if windows.GetProcessTimes(windows.CurrentProcess(), &created, &exited, &kernel, &used) != nil {
			return
		}
		user = (int64(used.HighDateTime)<<32 | int64(used.LowDateTime)) * 100
	}
}

// gone waits until a process has ended.
func gone(t *testing.T, pid int) {
	t.Helper()
	p, err := os.FindProcess(pid)
	if err != nil {
		return
	}
	_, _ = p.Wait()
}
