package foreigndir

import (
	"strconv"

	"golang.org/x/sys/unix"
)

// repair makes a folder readable for us. It first gets a descriptor of the folder, so that a link
// that replaces it meanwhile is not followed.
func repair(at int, name string) error {
	fd, err := unix.Openat(at, name, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	return unix.Chmod("/proc/self/fd/"+strconv.Itoa(fd), 0o700)
}
