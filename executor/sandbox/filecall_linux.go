//go:build amd64 || arm64

package sandbox

import (
	"bytes"
	"encoding/binary"
	"errors"
	"path/filepath"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A fileRequest is a change of a file's permissions or times that a program has
// asked for.
type fileRequest struct {
	pid    uint32
	at     int32 // file descriptor of the folder that path starts from, or of the file itself
	path   string
	follow bool // a link at the path's end
	mode   uint32
	times  []unix.Timespec // of the last access and change; nil: now
	timing bool            // it is about times
}

// fileCall reads what a call asks for.
func fileCall(n *notification, valid func() bool) (r fileRequest, err error) {
	r = fileRequest{pid: n.pid, at: unix.AT_FDCWD, follow: true}
	a := n.args
	path, times, flags := uint64(0), uint64(0), uint64(0)
	decode := func([]byte) []unix.Timespec { return nil }
	switch n.number {
	case unix.SYS_FCHMOD:
		r.at, r.mode = int32(a[0]), uint32(a[1]) //nolint:gosec // as the kernel takes it
	case unix.SYS_FCHMODAT:
		r.at, path, r.mode = int32(a[0]), a[1], uint32(a[2]) //nolint:gosec // as the kernel takes it
	case unix.SYS_FCHMODAT2:
		r.at, path, r.mode, flags = int32(a[0]), a[1], uint32(a[2]), a[3] //nolint:gosec // as the kernel takes it
	case unix.SYS_UTIMENSAT:
		r.at, path, times, flags, r.timing = int32(a[0]), a[1], a[2], a[3], true //nolint:gosec // as the kernel takes it
		decode = nanoseconds
	default:
		if path, times, decode, err = oldFileCall(n, &r); err != nil {
			return r, err
		}
	}
	if flags&^(unix.AT_SYMLINK_NOFOLLOW|unix.AT_EMPTY_PATH) != 0 {
		return r, unix.EINVAL
	}
	r.follow = flags&unix.AT_SYMLINK_NOFOLLOW == 0
	if path != 0 {
		b, err := memory(n.pid, path, unix.PathMax)
		if err != nil {
			return r, err
		}
		text, _, ok := bytes.Cut(b, []byte{0})
		if !ok {
			return r, unix.ENAMETOOLONG
		}
		r.path = string(text)
		if r.path == "" && flags&unix.AT_EMPTY_PATH == 0 {
			return r, unix.ENOENT
		}
	}
	if times != 0 {
		const two = 2 * 16 // the longest form of two times
		b, err := memory(n.pid, times, two)
		if err != nil {
			return r, err
		}
		if r.times = decode(append(b, make([]byte, two)...)); r.times == nil {
			return r, unix.EINVAL
		}
	}
	if !valid() {
		return r, unix.EINTR // its memory may have been another's
	}
	return r, nil
}

// nanoseconds are two of struct timespec.
func nanoseconds(b []byte) []unix.Timespec { return pairs(b, 1) }

// pairs are two times of a second and a part of it, which unit turns into
// nanoseconds.
func pairs(b []byte, unit int64) []unix.Timespec {
	word := func(i int) int64 { return int64(binary.NativeEndian.Uint64(b[8*i:])) } //nolint:gosec // as the kernel takes it
	return []unix.Timespec{{Sec: word(0), Nsec: word(1) * unit}, {Sec: word(2), Nsec: word(3) * unit}}
}

// memory returns up to n bytes of a process; fewer if they end before.
func memory(pid uint32, addr uint64, n int) ([]byte, error) {
	b := make([]byte, n)
	page := uint64(unix.Getpagesize())                                   //nolint:gosec // some thousand
	first := min(uint64(n), page-addr%page)                              //nolint:gosec // some thousand
	remote := []unix.RemoteIovec{{Base: uintptr(addr), Len: int(first)}} //nolint:gosec // at most a page
	if rest := n - int(first); rest > 0 {                                //nolint:gosec // at most a page
		remote = append(remote, unix.RemoteIovec{Base: uintptr(addr + first), Len: rest}) // may not be there
	}
	local := []unix.Iovec{{Base: unsafe.SliceData(b)}} //nolint:gosec // as the call wants it
	local[0].SetLen(n)
	got, err := unix.ProcessVMReadv(int(pid), local, remote, 0)
	if err != nil {
		return nil, err
	}
	return b[:got], nil
}

// below reports whether a path is a folder or lies in it.
func below(path, folder string) bool {
	return folder != "" && (path == folder || strings.HasPrefix(path, folder+"/"))
}

// carryOut makes the change if the file is the program's own.
func (r fileRequest) carryOut(p Policy) error {
	fd, err := r.open()
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	self := "/proc/self/fd/" + strconv.Itoa(fd)
	// The kernel knows where the file lies; names on the way may have changed.
	target := make([]byte, unix.PathMax)
	n, err := unix.Readlink(self, target)
	if err != nil {
		return err
	}
	switch path := string(target[:n]); {
	case below(path, p.Own):
	case below(path, p.Settled):
		return nil
	default:
		return unix.EPERM
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	switch link := st.Mode&unix.S_IFMT == unix.S_IFLNK; {
	case r.timing && link:
		return nil // nothing looks at those
	case r.timing:
		return unix.UtimesNanoAt(unix.AT_FDCWD, self, r.times, 0)
	case link:
		return unix.EOPNOTSUPP // as the kernel
	}
	return unix.Chmod(self, r.mode&0o1777) // and no other rights for who runs it
}

// open returns a descriptor of the file that changes nothing and can do nothing.
func (r fileRequest) open() (int, error) {
	proc := "/proc/" + strconv.FormatUint(uint64(r.pid), 10)
	flags := unix.O_PATH | unix.O_CLOEXEC
	base := proc + "/cwd"
	if r.at != unix.AT_FDCWD {
		base = proc + "/fd/" + strconv.Itoa(int(r.at))
	}
	path := r.path
	for _, own := range []string{"/proc/self", "/proc/thread-self"} {
		if rest, ok := strings.CutPrefix(path, own+"/"); ok { // that is not us
			path = proc + "/" + rest
		}
	}
	if r.path == "" {
		path = base
	} else if !r.follow {
		flags |= unix.O_NOFOLLOW
	}
	if filepath.IsAbs(path) {
		return unix.Open(path, flags, 0)
	}
	dir, err := unix.Open(base, unix.O_PATH|unix.O_CLOEXEC, 0)
	if errors.Is(err, unix.ENOENT) {
		return -1, unix.EBADF
	} else if err != nil {
		return -1, err
	}
	defer func() { _ = unix.Close(dir) }()
	return unix.Openat(dir, path, flags, 0)
}
