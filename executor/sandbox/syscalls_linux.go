//go:build amd64 || arm64

package sandbox

import (
	"runtime"
	"unsafe"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// filtered says that there is a filter for this kind of computer.
const filtered = true

// denied are system calls that programs which compute have no use for. Most of
// them need rights that an ordinary user does not have; but the agent may be root,
// and each is a door into the kernel.
var denied = []uint32{
	// the file system's shape
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT,
	unix.SYS_FSPICK, unix.SYS_OPEN_TREE, unix.SYS_MOVE_MOUNT, unix.SYS_MOUNT_SETATTR, unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_QUOTACTL,
	unix.SYS_QUOTACTL_FD, unix.SYS_FANOTIFY_INIT, unix.SYS_ACCT,
	// the computer as a whole
	unix.SYS_REBOOT, unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE,
	unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME, unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME,
	unix.SYS_CLOCK_ADJTIME, unix.SYS_ADJTIMEX, unix.SYS_SYSLOG, unix.SYS_VHANGUP,
	// other programs
	unix.SYS_PTRACE, unix.SYS_PIDFD_GETFD, unix.SYS_SETNS, unix.SYS_UNSHARE, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_KEYCTL,
	// large parts of the kernel with a history of holes; a ring would also open
	// sockets past this filter
	unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
}

// namespaces are the flags with which a new process gets a world of its own, in
// which it would have all rights.
const namespaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC | unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET

// Where the kernel shows a filter what is called, little endian.
//
// Source: struct seccomp_data, linux/seccomp.h.
const (
	atNumber   = 0
	atArch     = 4
	atArgument = 16 // 8 bytes each, the low half first
)

// filter returns the program that judges each system call.
func filter(network bool) ([]bpf.RawInstruction, error) {
	arch, foreign := uint32(unix.AUDIT_ARCH_X86_64), uint32(0x40000000) // numbers of the x32 kind have this bit
	if runtime.GOARCH == "arm64" {
		arch, foreign = unix.AUDIT_ARCH_AARCH64, 0
	}
	allow := bpf.RetConstant{Val: unix.SECCOMP_RET_ALLOW}
	refuse := func(err unix.Errno) bpf.RetConstant {
		return bpf.RetConstant{Val: unix.SECCOMP_RET_ERRNO | uint32(err)} //nolint:gosec // some hundred
	}
	load := func(at uint32) bpf.Instruction { return bpf.LoadAbsolute{Off: at, Size: 4} }
	p := []bpf.Instruction{
		// Programs for another kind of processor have other numbers.
		load(atArch),
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: arch, SkipTrue: 1},
		refuse(unix.ENOSYS),
		load(atNumber),
	}
	when := func(cond bpf.JumpTest, val uint32, then ...bpf.Instruction) {
		p = append(p, bpf.JumpIf{Cond: cond, Val: val, SkipFalse: uint8(len(then))}) //nolint:gosec // a handful
		p = append(p, then...)
	}
	if foreign != 0 {
		when(bpf.JumpGreaterOrEqual, foreign, refuse(unix.ENOSYS))
	}
	if runtime.GOARCH == "amd64" {
		const iopl, ioperm = 172, 173
		when(bpf.JumpEqual, iopl, refuse(unix.EPERM))
		when(bpf.JumpEqual, ioperm, refuse(unix.EPERM))
	}
	for _, n := range denied {
		when(bpf.JumpEqual, n, refuse(unix.EPERM))
	}
	// The flags of clone3 lie in memory, where a filter cannot look; without it the
	// C library takes clone.
	when(bpf.JumpEqual, unix.SYS_CLONE3, refuse(unix.ENOSYS))
	when(bpf.JumpEqual, unix.SYS_CLONE, load(atArgument),
		bpf.JumpIf{Cond: bpf.JumpBitsSet, Val: namespaces, SkipTrue: 1}, allow, refuse(unix.EPERM))
	// What is typed at a terminal is the volunteer's word.
	when(bpf.JumpEqual, unix.SYS_IOCTL, load(atArgument+8),
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.TIOCSTI, SkipTrue: 2},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: tioclinux, SkipTrue: 1}, allow, refuse(unix.EPERM))
	// Behind local sockets other programs wait to be told what to do: the desktop's
	// bus, Docker. Pairs of sockets for a program's own use are another call.
	socket := []bpf.Instruction{load(atArgument)}
	if network {
		socket = append(socket,
			bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.AF_INET, SkipTrue: 3},
			bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.AF_INET6, SkipTrue: 2},
			bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.AF_NETLINK, SkipTrue: 1}) // to learn the computer's addresses
	}
	socket = append(socket, refuse(unix.EPERM))
	when(bpf.JumpEqual, unix.SYS_SOCKET, append(socket, allow)...)
	return bpf.Assemble(append(p, allow))
}

// tioclinux, among others, types at a console.
const tioclinux = 0x541c

// restrictSyscalls has this process, for good, do without the system calls that
// the filter refuses.
func restrictSyscalls(network bool) error {
	raw, err := filter(network)
	if err != nil {
		return err
	}
	program := make([]unix.SockFilter, len(raw))
	for i, r := range raw {
		program[i] = unix.SockFilter{Code: r.Op, Jt: r.Jt, Jf: r.Jf, K: r.K}
	}
	prog := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}                                                                      //nolint:gosec // some hundred
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&prog))) //nolint:gosec // as the call wants it
	if errno != 0 {
		return errno
	}
	return nil
}
