//go:build unix && !linux

package foreigndir

import "golang.org/x/sys/unix"

// repair makes a folder readable for us, without following links.
func repair(at int, name string) error {
	return unix.Fchmodat(at, name, 0o700, unix.AT_SYMLINK_NOFOLLOW)
}
