package sandbox

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/starling-grid/starling/internal/inroot"
)

// A program from a container image sees the image's files as "/", read-only. Its slot, its
// project's folder and some files of the system are shown at their usual paths. The rest of the
// computer is not mounted there at all. No ID of a process changes: the agent recognizes and counts
// processes by their IDs.

// temporary are the paths at which the program finds the policy's folder for temporary files.
var temporary = []string{"/tmp", "/var/tmp", "/dev/shm"}

// temporary returns them for a policy.
func (p Policy) temporary() []string {
	if p.Root == "" || p.Temporary == "" {
		return nil
	}
	return temporary
}

// shown are the files and folders of the system that a program sees whatever its image contains.
// Missing ones are ignored.
var shown = []string{"/proc", "/sys/devices/system/cpu", "/sys/fs/cgroup", "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}

// shownToNetwork are further ones for programs that may use the network.
var shownToNetwork = []string{"/etc/resolv.conf", "/etc/hosts"}

// ownNamespaces makes a command start in a user namespace, in which it may mount, and a mount
// namespace. The user keeps its ID. Root does not need this.
func ownNamespaces(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = new(syscall.SysProcAttr)
	}
	user, group := os.Geteuid(), os.Getegid()
	a := cmd.SysProcAttr
	a.Cloneflags |= unix.CLONE_NEWUSER | unix.CLONE_NEWNS
	a.UidMappings = []syscall.SysProcIDMap{{ContainerID: user, HostID: user, Size: 1}}
	a.GidMappings = []syscall.SysProcIDMap{{ContainerID: group, HostID: group, Size: 1}}
	a.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_SETPCAP} // an ordinary user would lose them by running this program
}

// enterRoot makes the policy's root the "/" of this thread and of the program that it becomes.
func enterRoot(p Policy) error {
	cwd, err := os.Getwd()
	if err != nil {
		return err
	}
	if p.User != 0 {
		if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
			return fmt.Errorf("create a mount namespace: %w", err)
		}
	}
	// An unmount elsewhere must also take effect here, or a task would keep a disk busy.
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_SLAVE, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	if err := unix.Mount(p.Root, p.Root, "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("show %s: %w", p.Root, err)
	}
	fd, err := unix.Open(p.Root, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open %s: %w", p.Root, err)
	}
	defer func() { _ = unix.Close(fd) }()
	if err := (newRoot{fd}).furnish(p); err != nil {
		return err
	}
	if err := unix.Fchdir(fd); err != nil {
		return err
	}
	if err := unix.PivotRoot(".", "."); err != nil { // the old root is now on top of the new one
		return fmt.Errorf("change the root: %w", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("leave the old root: %w", err)
	}
	if err := unix.Chdir(cwd); err != nil {
		return fmt.Errorf("enter %s: %w", cwd, err)
	}
	return nil
}

// A newRoot is a folder that is to become "/". Files in it are never reached through links, since
// these were made by strangers.
type newRoot struct{ fd int }

// furnish mounts everything that the program needs in addition to the image.
func (r newRoot) furnish(p Policy) error {
	const restricted, closed = unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV, unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID
	empty := []string{"/dev", "/sys"} // an image's own files there are of no use
	for _, at := range empty {
		if err := r.empty(at); err != nil {
			return err
		}
	}
	if err := r.linkStreams(); err != nil {
		return err
	}
	system := shown
	if p.Network {
		system = append(shownToNetwork, shown...)
	}
	for _, at := range system {
		if err := r.bind(at, at, closed); err != nil && !errors.Is(err, unix.ENOENT) {
			return err
		}
	}
	for _, at := range p.Devices {
		if err := r.bind(at, at, closed); err != nil {
			return err
		}
	}
	for _, s := range p.Shown {
		var err error
		switch {
		case s.Link != "":
			err = r.link(s.At, s.Link)
		case s.From != "":
			err = r.bind(s.From, s.At, closed|restricted)
		default:
			empty = append(empty, s.At)
			err = r.empty(s.At)
		}
		if err != nil {
			return err
		}
	}
	for _, at := range p.temporary() {
		if err := r.bind(p.Temporary, at, restricted); err != nil {
			return err
		}
	}
	if p.Settled != "" {
		if err := r.bind(p.Settled, p.Settled, closed|restricted); err != nil {
			return err
		}
	}
	if p.Own != "" {
		if err := r.bind(p.Own, p.Own, restricted); err != nil {
			return err
		}
	}
	for _, at := range empty {
		if err := r.restrict(at, closed); err != nil {
			return err
		}
	}
	return r.restrict("/", closed|restricted)
}

// empty makes an empty folder in memory at a path.
func (r newRoot) empty(at string) error {
	dir, err := r.make(at, true)
	if err != nil {
		return err
	}
	err = unix.Mount("starling", self(dir), "tmpfs", unix.MS_NOSUID|unix.MS_NOEXEC, "mode=0755,size=1m")
	_ = unix.Close(dir)
	if err != nil {
		return fmt.Errorf("mount %s: %w", at, err)
	}
	return nil
}

// linkStreams makes the usual links in /dev.
func (r newRoot) linkStreams() error {
	for name, target := range map[string]string{"fd": "fd", "stdin": "fd/0", "stdout": "fd/1", "stderr": "fd/2"} {
		if err := r.link("/dev/"+name, "/proc/self/"+target); err != nil {
			return err
		}
	}
	return nil
}

// link makes a symbolic link at a path in an empty folder.
func (r newRoot) link(at, target string) error {
	dir, err := r.make(path.Dir(at), true)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(dir) }()
	if err := unix.Symlinkat(target, dir, path.Base(at)); err != nil {
		return fmt.Errorf("make the link %s: %w", at, err)
	}
	return nil
}

// bind shows a file or folder of the system at a path in the root, with further restrictions.
func (r newRoot) bind(from, at string, attributes uint64) error {
	source, err := unix.Open(from, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open %s: %w", from, err)
	}
	defer func() { _ = unix.Close(source) }()
	var st unix.Stat_t
	if err := unix.Fstat(source, &st); err != nil {
		return err
	}
	target, err := r.make(at, st.Mode&unix.S_IFMT == unix.S_IFDIR)
	if err != nil {
		return err
	}
	err = unix.Mount(self(source), self(target), "", unix.MS_BIND|unix.MS_REC, "")
	_ = unix.Close(target)
	if err != nil {
		return fmt.Errorf("show %s: %w", at, err)
	}
	return r.restrict(at, attributes, unix.AT_RECURSIVE)
}

// restrict adds attributes to the mount at a path.
func (r newRoot) restrict(at string, attributes uint64, flags ...uint) error {
	fd, err := r.open(at)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	how := uint(unix.AT_EMPTY_PATH)
	for _, f := range flags {
		how |= f
	}
	if err := unix.MountSetattr(fd, "", how, &unix.MountAttr{Attr_set: attributes}); err != nil {
		return fmt.Errorf("restrict %s: %w", at, err)
	}
	return nil
}

// make returns a file or folder at a path below the root, and creates it and the folders above
// it. Whatever else the image has at these paths is removed from it.
func (r newRoot) make(at string, folder bool) (int, error) {
	names := strings.Split(strings.Trim(path.Clean(at), "/"), "/")
	dir, err := unix.Dup(r.fd)
	for i, name := range names {
		if err != nil {
			break
		}
		var next int
		next, err = makeIn(dir, name, folder || i < len(names)-1)
		_ = unix.Close(dir)
		dir = next
	}
	if err != nil {
		return -1, fmt.Errorf("make %s in the image: %w", at, err)
	}
	return dir, nil
}

// makeIn is make for a single name in a folder. Tasks of the same image may start at the same time.
func makeIn(dir int, name string, folder bool) (fd int, err error) {
	for range 10 {
		fd, err = inroot.NoLink(dir, name)
		if err == nil {
			var st unix.Stat_t
			if err = unix.Fstat(fd, &st); err == nil && (st.Mode&unix.S_IFMT == unix.S_IFDIR) == folder {
				return fd, nil
			}
			_ = unix.Close(fd)
		}
		switch {
		case err == nil && !folder:
			return -1, unix.EISDIR
		case err == nil, errors.Is(err, unix.ELOOP):
			if err = unix.Unlinkat(dir, name, 0); errors.Is(err, unix.EISDIR) {
				err = nil // another task has just made the folder
			}
		case !errors.Is(err, unix.ENOENT):
			return -1, err
		case folder:
			err = unix.Mkdirat(dir, name, 0o755)
		default:
			err = unix.Mknodat(dir, name, unix.S_IFREG|0o644, 0)
		}
		if err != nil && !errors.Is(err, unix.EEXIST) && !errors.Is(err, unix.ENOENT) {
			return -1, err
		}
	}
	return -1, errors.Join(unix.EBUSY, err)
}

// open returns the uppermost mount at a path in the root, or the file there.
func (r newRoot) open(at string) (int, error) {
	fd, err := unix.Dup(r.fd)
	for name := range strings.SplitSeq(strings.Trim(at, "/"), "/") {
		if err != nil || name == "" {
			break
		}
		dir := fd
		fd, err = inroot.NoLink(dir, name)
		_ = unix.Close(dir)
	}
	if err != nil {
		return -1, fmt.Errorf("open %s: %w", at, err)
	}
	return fd, nil
}

// self is the path of an open file, whatever its name.
func self(fd int) string { return "/proc/self/fd/" + strconv.Itoa(fd) }
