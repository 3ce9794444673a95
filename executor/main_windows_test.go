package executor

import (
	"os"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/windows"
)

// programName is the name of the test binary in the project's folder.
const programName = "app_1.0.exe"

// crash ends an application as if it had accessed invalid memory. Go's runtime would turn a real
// access into a different exit status.
func crash() {
	_ = windows.TerminateProcess(windows.CurrentProcess(), 0xC0000005)
}

// The exit status and message that an agent reports for a crash.
const (
	crashedStatus  = -1073741819
	crashedMessage = "0xc0000005): access violation"
)

// apart starts a child that does not get its parent's Ctrl-C.
func apart() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
}

// burn uses enough CPU time for a checkpoint to differ from the last one.
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
