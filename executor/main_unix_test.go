//go:build unix

package executor

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/starling-grid/starling/internal/testwait"
)

// programName is the name of the test binary in the project's folder.
const programName = "app_1.0"

// crash ends an application by a signal. Go's runtime would turn it into an exit status.
func crash() {
	_ = syscall.Exec("/bin/sh", []string{"sh", "-c", "ulimit -c 0; kill -ABRT $$"}, nil)
}

// The exit status and message that an agent reports for a crash.
const (
	crashedStatus  = 6
	crashedMessage = "signal 6"
)

// apart starts a child outside its parent's process group.
func apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// burn uses enough CPU time for a checkpoint to differ from the last one.
func burn() {
	var u syscall.Rusage
	for n := 0; u.Utime.Usec < 20000 && u.Utime.Sec == 0; n++ {
		if n%100000 != 0 { // getrusage alone would mostly use system time
			continue
		}
		_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	}
}

// gone waits until a process has ended. Only init may reap it.
func gone(t *testing.T, pid int) {
	t.Helper()
	testwait.Until(t, "the end of a process", func() bool {
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		return err != nil && syscall.Kill(pid, 0) != nil || strings.Contains(string(stat), ") Z ")
	})
}

// TestAProgramIsOpenForWriting checks that a program starts as soon as its file is closed. A child of the agent has
// the file open for a moment if it is started while the agent writes it.
func TestAProgramIsOpenForWriting(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.program("#!/bin/sh\n")
	f, err := os.OpenFile(filepath.Join(b.project, programName), os.O_WRONLY, 0)
	must(t, err)
	time.AfterFunc(50*time.Millisecond, func() { _ = f.Close() })
	b.start(b.task())
	b.exited()
}

// program makes a script the main program.
func (b *bench) program(script string) {
	b.t.Helper()
	if err := os.Remove(filepath.Join(b.project, programName)); err != nil {
		b.t.Fatal(err)
	}
	b.put(programName, script)
}
