//go:build amd64 || arm64

package sandbox

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/starling-grid/starling/internal/inroot"
)

// A fileRequest is a program's request to change a file's permissions or times.
type fileRequest struct {
	pid    uint32
	at     int32 // file descriptor of the folder where path starts, or of the file itself
	path   string
	follow bool // whether to follow a link at the path's end
	mode   uint32
	times  []unix.Timespec // of the last access and change, or nil for now
	timing bool            // the request is about times
}

// fileCall reads the request from a call's arguments.
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
		return r, unix.EINTR // its memory may have been another process's
	}
	return r, nil
}

// nanoseconds decodes two struct timespec.
func nanoseconds(b []byte) []unix.Timespec { return pairs(b, 1) }

// pairs decodes two times of seconds and fractions. unit is the number of nanoseconds in the
// fraction's unit.
func pairs(b []byte, unit int64) []unix.Timespec {
	word := func(i int) int64 { return int64(binary.NativeEndian.Uint64(b[8*i:])) } //nolint:gosec // as the kernel takes it
	return []unix.Timespec{{Sec: word(0), Nsec: word(1) * unit}, {Sec: word(2), Nsec: word(3) * unit}}
}

// memory returns up to n bytes of a process's memory, or fewer if they end before.
func memory(pid uint32, addr uint64, n int) ([]byte, error) {
	b := make([]byte, n)
	page := uint64(unix.Getpagesize())                                   //nolint:gosec // some thousand
	first := min(uint64(n), page-addr%page)                              //nolint:gosec // some thousand
	remote := []unix.RemoteIovec{{Base: uintptr(addr), Len: int(first)}} //nolint:gosec // at most a page
	if rest := n - int(first); rest > 0 {                                //nolint:gosec // at most a page
		remote = append(remote, unix.RemoteIovec{Base: uintptr(addr + first), Len: rest}) // this part may not be mapped
	}
	local := []unix.Iovec{{Base: unsafe.SliceData(b)}} //nolint:gosec // as the call wants it
	local[0].SetLen(n)
	got, err := unix.ProcessVMReadv(int(pid), local, remote, 0)
	if err != nil {
		return nil, err
	}
	return b[:got], nil
}

// below reports whether a path is the folder or in it.
func below(path, folder string) bool {
	return folder != "" && (path == folder || strings.HasPrefix(path, folder+"/"))
}

// carryOut makes the change if the file belongs to the program.
func (r fileRequest) carryOut(p Policy) error {
	fd, err := r.open(p)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	self := "/proc/self/fd/" + strconv.Itoa(fd)
	// The kernel provides the file's real path. Names in the requested path may have changed.
	target := make([]byte, unix.PathMax)
	n, err := unix.Readlink(self, target)
	if err != nil {
		return err
	}
	switch path := string(target[:n]); {
	case below(path, p.Own), slices.ContainsFunc(p.temporary(), func(dir string) bool { return below(path, dir) }):
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
		return nil // times of links are not used anywhere
	case r.timing:
		return unix.UtimesNanoAt(unix.AT_FDCWD, self, r.times, 0)
	case link:
		return unix.EOPNOTSUPP // the same as the kernel
	}
	return unix.Chmod(self, r.mode&0o1777) // never setuid or setgid
}

// open returns a descriptor with which the file can neither be read nor changed.
func (r fileRequest) open(p Policy) (int, error) {
	proc := "/proc/" + strconv.FormatUint(uint64(r.pid), 10)
	flags := unix.O_PATH | unix.O_CLOEXEC
	base := proc + "/cwd"
	if r.at != unix.AT_FDCWD {
		base = proc + "/fd/" + strconv.Itoa(int(r.at))
	}
	path := r.path
	for _, own := range []string{"/proc/self", "/proc/thread-self"} {
		if rest, ok := strings.CutPrefix(path, own+"/"); ok { // in the request, this means the calling program, not this process
			path = proc + "/" + rest
		}
	}
	if r.path == "" {
		path = base
	} else if !r.follow {
		flags |= unix.O_NOFOLLOW
	}
	if p.Root != "" && r.path != "" && !isDescriptor(path, proc) {
		return openInRoot(proc, base, path, flags)
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

// isDescriptor reports whether a path names an open file of a process whose folder in /proc is
// proc.
func isDescriptor(path, proc string) bool {
	number, ok := strings.CutPrefix(path, proc+"/fd/")
	_, err := strconv.ParseUint(number, 10, 31)
	return ok && err == nil
}

// openInRoot is open for a program with its own root, from which no path and no link leads out.
func openInRoot(proc, base, path string, flags int) (int, error) {
	if !filepath.IsAbs(path) {
		dir, err := os.Readlink(base)
		if errors.Is(err, fs.ErrNotExist) {
			return -1, unix.EBADF
		} else if err != nil {
			return -1, err
		}
		path = dir + "/" + path
	}
	root, err := unix.Open(proc+"/root", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	defer func() { _ = unix.Close(root) }()
	return inroot.Open(root, path, flags&unix.O_NOFOLLOW == 0)
}
