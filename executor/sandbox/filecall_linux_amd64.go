package sandbox

import (
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// oldFileCalls are system calls that newer architectures do not have.
var oldFileCalls = []uint32{unix.SYS_CHMOD, unix.SYS_UTIME, unix.SYS_UTIMES, unix.SYS_FUTIMESAT}

// oldFileCall completes the request of one of them. It returns the addresses of its path and its
// times, and a function that decodes the times.
func oldFileCall(n *notification, r *fileRequest) (path, times uint64, decode func([]byte) []unix.Timespec, err error) {
	a := n.args
	r.timing = true
	switch n.number {
	case unix.SYS_CHMOD:
		r.mode, r.timing = uint32(a[1]), false //nolint:gosec // as the kernel takes it
		return a[0], 0, nil, nil
	case unix.SYS_UTIME: // whole seconds
		return a[0], a[1], func(b []byte) []unix.Timespec {
			return []unix.Timespec{{Sec: int64(binary.NativeEndian.Uint64(b))}, {Sec: int64(binary.NativeEndian.Uint64(b[8:]))}} //nolint:gosec // as the kernel takes it
		}, nil
	case unix.SYS_UTIMES:
		return a[0], a[1], microseconds, nil
	case unix.SYS_FUTIMESAT:
		r.at = int32(a[0]) //nolint:gosec // as the kernel takes it
		return a[1], a[2], microseconds, nil
	}
	return 0, 0, nil, unix.ENOSYS
}

// microseconds decodes two struct timeval.
func microseconds(b []byte) []unix.Timespec { return pairs(b, 1000) }
