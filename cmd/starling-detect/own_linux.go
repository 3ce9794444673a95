package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// own returns the standard output for this program alone, and redirects later output of drivers to
// the standard error.
func own() (*os.File, error) {
	fd, err := unix.Dup(unix.Stdout)
	if err != nil {
		return nil, os.NewSyscallError("dup", err)
	}
	if err := unix.Dup3(unix.Stderr, unix.Stdout, 0); err != nil {
		return nil, os.NewSyscallError("dup3", err)
	}
	return os.NewFile(uintptr(fd), "standard output"), nil
}
