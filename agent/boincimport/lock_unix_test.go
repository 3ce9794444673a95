//go:build unix

package boincimport_test

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// holdLock takes a lock as BOINC's client does, announces that, and keeps it until its input ends.
func holdLock(name string) {
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err == nil {
		err = unix.FcntlFlock(f.Fd(), unix.F_SETLK, &unix.Flock_t{Type: unix.F_WRLCK})
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("locked")
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(0)
}
