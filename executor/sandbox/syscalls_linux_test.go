//go:build amd64 || arm64

package sandbox_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/starling-grid/starling/executor/sandbox"
	"github.com/starling-grid/starling/internal/testimage"
)

func init() {
	if len(os.Args) == 2 && os.Args[1] == "hostile" {
		hostile()
	}
}

// hostile makes each system call and prints how it ended. The arguments ensure that a call has no
// effect even if it is allowed.
func hostile() {
	runtime.LockOSThread()
	far := uintptr(1) // an invalid address
	for _, c := range []struct {
		name    string
		number  uintptr
		a, b, d uintptr
	}{
		{"mount", unix.SYS_MOUNT, far, far, far},
		{"fsopen", unix.SYS_FSOPEN, far, 0, 0},
		{"chroot", unix.SYS_CHROOT, far, 0, 0},
		{"kexec_load", unix.SYS_KEXEC_LOAD, 0, 99, far},
		{"finit_module", unix.SYS_FINIT_MODULE, 99999, far, 0},
		{"swapon", unix.SYS_SWAPON, far, 0, 0},
		{"reboot", unix.SYS_REBOOT, 0, 0, 0},
		{"sethostname", unix.SYS_SETHOSTNAME, far, 5, 0},
		{"ptrace", unix.SYS_PTRACE, unix.PTRACE_ATTACH, 1 << 30, 0},
		{"keyctl", unix.SYS_KEYCTL, 9999, 0, 0},
		{"bpf", unix.SYS_BPF, 9999, far, 0},
		{"perf_event_open", unix.SYS_PERF_EVENT_OPEN, far, 0, 0},
		{"userfaultfd", unix.SYS_USERFAULTFD, 1 << 30, 0, 0},
		{"io_uring_setup", unix.SYS_IO_URING_SETUP, 0, far, 0},
		{"setns", unix.SYS_SETNS, 99999, 0, 0},
		{"unshare", unix.SYS_UNSHARE, 0, 0, 0},
		{"clone of a namespace", unix.SYS_CLONE, unix.CLONE_NEWUTS | unix.CLONE_SIGHAND, 0, 0}, // mutually exclusive flags
		{"clone3", unix.SYS_CLONE3, far, 0, 0},
		{"packet socket", unix.SYS_SOCKET, unix.AF_PACKET, unix.SOCK_RAW, 0},
		{"local socket", unix.SYS_SOCKET, unix.AF_UNIX, unix.SOCK_STREAM, 0},
		{"kernel crypto socket", unix.SYS_SOCKET, unix.AF_ALG, unix.SOCK_SEQPACKET, 0},
		{"internet socket", unix.SYS_SOCKET, unix.AF_INET, unix.SOCK_STREAM, 0},
		{"datagram socket", unix.SYS_SOCKET, unix.AF_INET6, unix.SOCK_DGRAM, 0},
		{"typing", unix.SYS_IOCTL, 0, unix.TIOCSTI, far},
		{"size of a terminal", unix.SYS_IOCTL, 0, unix.TIOCGWINSZ, far},
	} {
		_, _, errno := unix.Syscall(c.number, c.a, c.b, c.d)
		fmt.Printf("%s=%s\n", c.name, unix.ErrnoName(errno))
	}
	var pair [2]int32
	_, _, errno := unix.Syscall6(unix.SYS_SOCKETPAIR, unix.AF_UNIX, unix.SOCK_STREAM, 0, uintptr(unsafe.Pointer(&pair)), 0, 0)
	fmt.Printf("pair of sockets=%s\n", unix.ErrnoName(errno))
	os.Exit(0)
}

// ask makes a hostile program make its calls and returns their outcomes by name.
func (c cell) ask(start func(*exec.Cmd) error) map[string]string {
	c.t.Helper()
	cmd := exec.CommandContext(c.t.Context(), "/proc/self/exe", "hostile")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := start(cmd)
	if err == nil {
		err = cmd.Wait()
	}
	if err != nil {
		c.t.Fatalf("%v: %s", err, out.Bytes())
	}
	ends := make(map[string]string)
	for line := range strings.Lines(out.String()) {
		name, end, _ := strings.Cut(strings.TrimSpace(line), "=")
		ends[name] = end
	}
	return ends
}

// TestSystemCalls makes a hostile program make system calls, and compares the outcomes with those
// without a sandbox.
func TestSystemCalls(t *testing.T) {
	c := newCell(t)
	self, err := os.Executable()
	must(t, err)
	c.policy.Read = append(c.policy.Read, self)
	free := c.ask((*exec.Cmd).Start)
	for _, network := range []bool{false, true} {
		c.policy.Network = network
		got := c.ask(func(cmd *exec.Cmd) error { return sandbox.Start(cmd, c.policy) })
		if len(got) < 20 || len(got) != len(free) {
			t.Fatalf("got %d ends, without a sandbox %d", len(got), len(free))
		}
		for name, end := range got {
			want := "EPERM"
			switch name {
			case "clone3":
				want = "ENOSYS"
			case "pair of sockets", "size of a terminal":
				want = free[name]
			case "internet socket", "datagram socket":
				if network {
					want = free[name]
				}
			}
			if end != want {
				t.Errorf("%s, network %v: %s, want %s", name, network, end, want)
			}
			if os.Getuid() == 0 && want == "EPERM" && free[name] == "EPERM" {
				t.Logf("%s is refused to root by the system itself", name)
			}
		}
	}
	// Without the filter these calls succeed, so the test can fail.
	for name, want := range map[string]string{"unshare": "", "local socket": "", "internet socket": "", "keyctl": "ENOTSUP", "clone3": "EFAULT"} {
		if end := free[name]; end != want && end != "EINVAL" {
			t.Errorf("%s without a sandbox: %q, want %q", name, end, want)
		}
	}
}

// The filter is the same in an image. There the program's user namespace would otherwise allow it
// much of this.
func TestSystemCallsInAnImage(t *testing.T) {
	self, err := os.Executable()
	must(t, err)
	eachUser(t, func(t *testing.T, c cell) {
		if err := testimage.System(t.Context(), c.policy.Root, self); err != nil {
			t.Skip(err)
		}
		got := c.ask(func(cmd *exec.Cmd) error {
			cmd.Path, cmd.Dir = "/bin/"+filepath.Base(self), c.slot
			return sandbox.Start(cmd, c.policy)
		})
		for _, name := range []string{
			"mount", "fsopen", "chroot", "swapon", "sethostname", "ptrace", "keyctl", "bpf", "perf_event_open", "userfaultfd", "io_uring_setup", "setns", "unshare",
			"clone of a namespace", "packet socket", "local socket", "internet socket", "datagram socket", "typing",
		} {
			if got[name] != "EPERM" {
				t.Errorf("%s: got %q, want EPERM", name, got[name])
			}
		}
	})
}
