//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"maps"
	"runtime"
	"slices"
	"unsafe"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// filtered reports whether there is a filter for this architecture.
const filtered = true

// denied are system calls that are useless to programs that compute. Most of them need rights that
// an ordinary user does not have. But the agent may be root, and each call is a possible attack on
// the kernel.
var denied = []uint32{
	// the structure of the file system
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT,
	unix.SYS_FSPICK, unix.SYS_OPEN_TREE, unix.SYS_MOVE_MOUNT, unix.SYS_MOUNT_SETATTR, unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_QUOTACTL,
	unix.SYS_QUOTACTL_FD, unix.SYS_FANOTIFY_INIT, unix.SYS_ACCT,
	// the computer as a whole
	unix.SYS_REBOOT, unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE,
	unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME, unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME,
	unix.SYS_CLOCK_ADJTIME, unix.SYS_ADJTIMEX, unix.SYS_SYSLOG, unix.SYS_VHANGUP,
	// other programs
	unix.SYS_PTRACE, unix.SYS_PIDFD_GETFD, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PROCESS_MADVISE, unix.SYS_KCMP,
	unix.SYS_MIGRATE_PAGES, unix.SYS_MOVE_PAGES, unix.SYS_SETNS, unix.SYS_UNSHARE, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_KEYCTL,
	// objects that programs of one user share by a name other than a file's
	unix.SYS_SHMGET, unix.SYS_SHMAT, unix.SYS_SHMCTL, unix.SYS_SEMGET, unix.SYS_SEMOP, unix.SYS_SEMTIMEDOP, unix.SYS_SEMCTL,
	unix.SYS_MSGGET, unix.SYS_MSGSND, unix.SYS_MSGRCV, unix.SYS_MSGCTL, unix.SYS_MQ_OPEN, unix.SYS_MQ_UNLINK,
	// events in folders that it cannot read
	unix.SYS_INOTIFY_ADD_WATCH, unix.SYS_FANOTIFY_MARK,
	// the owner of any file that its user may open or name
	unix.SYS_FCHOWN, unix.SYS_FCHOWNAT, unix.SYS_FILE_SETATTR,
	// large parts of the kernel with a history of security holes. A ring would also bypass this
	// filter and open sockets.
	unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
}

// unsupported are calls that programs do without on file systems that lack them. Like the calls
// below, they change files that are only named or that may only be read.
var unsupported = []uint32{
	unix.SYS_SETXATTR, unix.SYS_LSETXATTR, unix.SYS_FSETXATTR, unix.SYS_SETXATTRAT,
	unix.SYS_REMOVEXATTR, unix.SYS_LREMOVEXATTR, unix.SYS_FREMOVEXATTR, unix.SYS_REMOVEXATTRAT,
}

// ofFiles are calls that change permissions and times. A user's program can do that to all files of
// the user, even with Landlock.
var ofFiles = append([]uint32{unix.SYS_FCHMOD, unix.SYS_FCHMODAT, unix.SYS_FCHMODAT2, unix.SYS_UTIMENSAT}, oldFileCalls...)

// ofProcesses maps calls that name a process or thread to the number of that argument. The argument
// 0 means the caller.
var ofProcesses = map[uint32]uint32{
	unix.SYS_PRLIMIT64: 0, unix.SYS_SCHED_SETAFFINITY: 0, unix.SYS_SCHED_SETSCHEDULER: 0, unix.SYS_SCHED_SETPARAM: 0, unix.SYS_SCHED_SETATTR: 0,
	unix.SYS_SETPRIORITY: 1, unix.SYS_IOPRIO_SET: 1, // argument 0 is the kind of ID
}

// namespaces are flags that put a new process into separate namespaces, where it would have all
// rights.
const namespaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC | unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET

// Offsets of the call's data that the kernel shows to a filter, in little endian.
//
// Source: struct seccomp_data, linux/seccomp.h.
const (
	atNumber   = 0
	atArch     = 4
	atArgument = 16 // 8 bytes each, the low half first
)

// filter returns the program that judges each system call. alone means that the user runs only this
// program, so that the kernel protects other users' files and processes from it. Otherwise such
// calls are held for this process to judge. If they cannot be held, they are refused, but calls
// about files report success, since many programs would otherwise give up.
func filter(network, alone, held bool) ([]bpf.RawInstruction, error) {
	arch, foreign := uint32(unix.AUDIT_ARCH_X86_64), uint32(0x40000000) // calls of the x32 ABI have this bit
	if runtime.GOARCH == "arm64" {
		arch, foreign = unix.AUDIT_ARCH_AARCH64, 0
	}
	allow := bpf.RetConstant{Val: unix.SECCOMP_RET_ALLOW}
	refuse := func(err unix.Errno) bpf.RetConstant {
		return bpf.RetConstant{Val: unix.SECCOMP_RET_ERRNO | uint32(err)} //nolint:gosec // some hundred
	}
	load := func(at uint32) bpf.Instruction { return bpf.LoadAbsolute{Off: at, Size: 4} }
	p := []bpf.Instruction{
		// Programs for another architecture use other numbers.
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
		const iopl, ioperm, chown, lchown = 172, 173, 92, 94
		for _, n := range []uint32{iopl, ioperm, chown, lchown} {
			when(bpf.JumpEqual, n, refuse(unix.EPERM))
		}
	}
	for _, n := range denied {
		when(bpf.JumpEqual, n, refuse(unix.EPERM))
	}
	for _, n := range unsupported {
		when(bpf.JumpEqual, n, refuse(unix.EOPNOTSUPP))
	}
	argument := func(n uint32) bpf.Instruction { return load(atArgument + 8*n) }
	// The limit of file locks is used as the mark.
	when(bpf.JumpEqual, unix.SYS_SETRLIMIT, argument(0),
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.RLIMIT_LOCKS, SkipFalse: 1}, refuse(unix.EPERM), allow)
	when(bpf.JumpEqual, unix.SYS_PRLIMIT64, argument(1),
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.RLIMIT_LOCKS, SkipFalse: 5}, argument(2),
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: 0, SkipFalse: 2}, load(atArgument+8*2+4),
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: 0, SkipTrue: 1}, refuse(unix.EPERM), load(atNumber))
	if !alone {
		file, process := bpf.Instruction(refuse(0)), bpf.Instruction(refuse(unix.EPERM))
		if held {
			file = bpf.RetConstant{Val: unix.SECCOMP_RET_USER_NOTIF}
			process = file
		}
		for _, n := range ofFiles {
			when(bpf.JumpEqual, n, file)
		}
		// Not all processes of the user belong to the program.
		when(bpf.JumpEqual, unix.SYS_SETPRIORITY, argument(0),
			bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.PRIO_USER, SkipFalse: 1}, refuse(unix.EPERM), load(atNumber))
		when(bpf.JumpEqual, unix.SYS_IOPRIO_SET, argument(0),
			bpf.JumpIf{Cond: bpf.JumpEqual, Val: ioprioUser, SkipFalse: 1}, refuse(unix.EPERM), load(atNumber))
		for _, n := range slices.Sorted(maps.Keys(ofProcesses)) {
			when(bpf.JumpEqual, n, argument(ofProcesses[n]), bpf.JumpIf{Cond: bpf.JumpEqual, Val: 0, SkipTrue: 1}, process, allow)
		}
		// A process that is not dumpable could hide the files that it has open.
		when(bpf.JumpEqual, unix.SYS_PRCTL, argument(0),
			bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.PR_SET_DUMPABLE, SkipFalse: 1}, refuse(0), allow)
	}
	// The flags of clone3 are in memory, where a filter cannot read them. Without it the C library
	// uses clone.
	when(bpf.JumpEqual, unix.SYS_CLONE3, refuse(unix.ENOSYS))
	when(bpf.JumpEqual, unix.SYS_CLONE, load(atArgument),
		bpf.JumpIf{Cond: bpf.JumpBitsSet, Val: namespaces, SkipTrue: 1}, allow, refuse(unix.EPERM))
	// Input typed at a terminal must be the volunteer's own. The other requests change what may be
	// done with a file.
	when(bpf.JumpEqual, unix.SYS_IOCTL, load(atArgument+8),
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.TIOCSTI, SkipTrue: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: tioclinux, SkipTrue: 3},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.FS_IOC_SETFLAGS, SkipTrue: 2},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: fsSetXattr, SkipTrue: 1}, allow, refuse(unix.EPERM))
	// Other programs accept commands at local sockets: the desktop's bus, Docker, the system's log.
	// Socket pairs for a program's own use are made by another call. Datagram pairs are refused,
	// because they can send to any name.
	when(bpf.JumpEqual, unix.SYS_SOCKETPAIR, argument(0),
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.AF_UNIX, SkipFalse: 4}, argument(1),
		bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: socketType},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.SOCK_STREAM, SkipTrue: 2},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.SOCK_SEQPACKET, SkipTrue: 1}, refuse(unix.EPERM), allow)
	if network {
		when(bpf.JumpEqual, unix.SYS_SOCKET, argument(0),
			bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.AF_INET, SkipTrue: 5},
			bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.AF_INET6, SkipTrue: 4},
			bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.AF_NETLINK, SkipFalse: 2}, // to find the computer's addresses
			argument(2), bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.NETLINK_ROUTE, SkipTrue: 1}, refuse(unix.EPERM), allow)
	} else {
		when(bpf.JumpEqual, unix.SYS_SOCKET, refuse(unix.EPERM))
	}
	return bpf.Assemble(append(p, allow))
}

// ioprioUser selects all processes of a user.
//
// Source: IOPRIO_WHO_USER, linux/ioprio.h.
const ioprioUser = 3

// socketType is the mask of a socket's type without flags.
const socketType = 0xf

// fsSetXattr sets flags of a file.
//
// Source: FS_IOC_FSSETXATTR, linux/fs.h.
const fsSetXattr = 0x401c5820

// tioclinux can, among other things, inject input at a console.
const tioclinux = 0x541c

// restrictSyscalls permanently prevents this process from using the system calls that the filter
// refuses. The listener receives calls that are held for another process to judge. It is -1 if
// calls are not held.
func restrictSyscalls(network, alone bool) (listener int, err error) {
	if alone {
		_, err := install(network, true, false)
		return -1, err
	}
	listener, err = install(network, false, true)
	// The program that runs this one may already have a listener, or the kernel is too old.
	if errors.Is(err, unix.EBUSY) || errors.Is(err, unix.EINVAL) {
		_, err = install(network, false, false)
		return -1, err
	}
	return listener, err
}

func install(network, alone, held bool) (listener int, err error) {
	raw, err := filter(network, alone, held)
	if err != nil {
		return -1, err
	}
	program := make([]unix.SockFilter, len(raw))
	for i, r := range raw {
		program[i] = unix.SockFilter{Code: r.Op, Jt: r.Jt, Jf: r.Jf, K: r.K}
	}
	flags := uintptr(unix.SECCOMP_FILTER_FLAG_TSYNC)
	if held {
		flags |= unix.SECCOMP_FILTER_FLAG_TSYNC_ESRCH | unix.SECCOMP_FILTER_FLAG_NEW_LISTENER
	}
	prog := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}                                              //nolint:gosec // some hundred
	fd, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(unsafe.Pointer(&prog))) //nolint:gosec // as the call wants it
	if errno != 0 {
		return -1, errno
	}
	return int(fd), nil
}
