package sandbox

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// An idRange is a range of user IDs that no other programs run as.
type idRange struct{ first, n int }

// ranges are tried in turn. Distributions do not assign the first range to users. A container whose
// root is an ordinary user outside only has IDs below 65536. Of these, systemd reserves the second
// range for temporary users like ours.
//
// Source: https://systemd.io/UIDS-GIDS
var ranges = []idRange{{364544, 4096}, {61184, 4096}}

// TaskUser returns the ID of the user and the group that run the task in a slot. It is 0, this
// process's own user, unless that is root.
func TaskUser(slot int) (int, error) {
	if os.Geteuid() != 0 {
		return 0, nil
	}
	r, err := available()
	if err != nil {
		return 0, err
	}
	if slot < 0 || slot >= r.n {
		return 0, fmt.Errorf("slot %d has no user: there are %d", slot, r.n)
	}
	return r.first + slot, nil
}

// available returns the first range that this system has.
var available = sync.OnceValues(func() (idRange, error) {
	for _, r := range ranges {
		if mapped("/proc/self/uid_map", r) && mapped("/proc/self/gid_map", r) {
			return r, nil
		}
	}
	return idRange{}, errors.New("this container has too few users (its uid_map ends below 65280)")
})

// mapped reports whether a map of a container's IDs includes the range.
func mapped(file string, r idRange) bool {
	text, err := os.ReadFile(file)
	if err != nil {
		return true // a kernel without user namespaces
	}
	for line := range strings.Lines(string(text)) {
		var first, outside, n int
		if _, err := fmt.Sscan(line, &first, &outside, &n); err == nil && first <= r.first && r.first-first <= n-r.n {
			return true
		}
	}
	return false
}

// Try starts a program that does nothing under a policy, and returns the error that prevents it
// from starting.
func Try(p Policy) error {
	cmd := exec.Command(nothing) //nolint:noctx // it ends at once
	cmd.Path, cmd.Err, cmd.Dir = nothing, nil, cmp.Or(p.Own, p.Reach)
	if err := Start(cmd, p); err != nil {
		return err
	}
	return cmd.Wait()
}

// groupsOf returns the groups whose members may open files of devices that other users may not.
// Root's group is never among them.
func groupsOf(devices []string) (groups []int) {
	for _, path := range devices {
		var st unix.Stat_t
		if unix.Stat(path, &st) == nil && st.Mode&0o066 == 0o060 && st.Gid != 0 && !slices.Contains(groups, int(st.Gid)) {
			groups = append(groups, int(st.Gid))
		}
	}
	return groups
}

// becomeUser permanently gives up root's rights, but keeps membership in groups.
func becomeUser(id int, groups []int) error {
	if err := syscall.Setgroups(groups); err != nil {
		return fmt.Errorf("leave groups: %w", err)
	}
	if err := syscall.Setresgid(id, id, id); err != nil {
		return fmt.Errorf("become group %d: %w", id, err)
	}
	if err := syscall.Setresuid(id, id, id); err != nil {
		return fmt.Errorf("become user %d: %w", id, err)
	}
	return nil
}

// openWay ensures that the policy's user can reach its folder by the path. If a folder above is
// closed, this process and the program that it becomes get a separate file system, in which that
// folder contains only the path.
func openWay(p Policy) error {
	closed, err := closedAbove(p.Reach, p.User)
	if err != nil || closed == "" {
		return err
	}
	cwd, err := os.Getwd()
	if err != nil {
		return err
	}
	if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
		return fmt.Errorf("other users cannot pass %s, and a mount namespace cannot be created (%w): choose a data directory that others can pass, such as /var/lib/starling, or run chmod o+x", closed, err)
	}
	// An unmount elsewhere must also take effect here, or a task would keep a disk busy.
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_SLAVE, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	folder, err := unix.Open(p.Reach, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(folder) }()
	if err := unix.Mount("starling", closed, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=0755,size=64k"); err != nil {
		return fmt.Errorf("cover %s: %w", closed, err)
	}
	if err := os.MkdirAll(p.Reach, 0o755); err != nil { //nolint:gosec // nothing but the way is in it
		return err
	}
	if err := unix.Mount(fmt.Sprint("/proc/self/fd/", folder), p.Reach, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return fmt.Errorf("show %s: %w", p.Reach, err)
	}
	return unix.Chdir(cwd)
}

// closedAbove returns the first folder on the path to dir that the user cannot pass, or "" if there
// is none.
func closedAbove(dir string, user int) (string, error) {
	if _, err := unix.SetfsgidRetGid(user); err != nil {
		return "", err
	}
	if _, err := unix.SetfsuidRetUid(user); err != nil { // also drops root's rights over files
		return "", err
	}
	defer func() {
		_, _ = unix.SetfsuidRetUid(os.Geteuid())
		_, _ = unix.SetfsgidRetGid(os.Getegid())
	}()
	at := "/"
	for name := range strings.SplitSeq(strings.Trim(filepath.Clean(dir), "/"), "/") {
		next := filepath.Join(at, name)
		var st unix.Stat_t
		switch err := unix.Lstat(next, &st); {
		case errors.Is(err, unix.EACCES):
			return at, nil
		case err != nil:
			return "", err
		}
		at = next
	}
	return "", nil
}
