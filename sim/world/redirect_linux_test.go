package world

import (
	"errors"
	"os"
	"syscall"
)

// redirect makes an open file's descriptor lead to another file until back is called. The file
// stays open, and locked, meanwhile.
func redirect(fd int, path string) (back func(), err error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	kept, err := syscall.Dup(fd)
	if err != nil {
		return nil, err
	}
	syscall.CloseOnExec(kept)
	if err := syscall.Dup3(int(f.Fd()), fd, syscall.O_CLOEXEC); err != nil {
		return nil, errors.Join(err, syscall.Close(kept))
	}
	return func() {
		_ = syscall.Dup3(kept, fd, syscall.O_CLOEXEC)
		_ = syscall.Close(kept)
	}, nil
}
