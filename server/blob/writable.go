package blob

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"github.com/shirou/gopsutil/v3/disk"
)

// room is the free space, in bytes, below which a disk is full.
const room = 64 << 10

// Writable returns why no file can be stored in a folder, or nil if one can. A part of a disk that is
// reserved for root does not count as free.
func Writable(dir string) error {
	if u, err := disk.Usage(dir); err == nil && u.Free < room {
		return &fs.PathError{Op: "write", Path: dir, Err: syscall.ENOSPC}
	}
	f, err := os.CreateTemp(dir, ".writable-*")
	if err != nil {
		return err
	}
	_, err = f.Write(make([]byte, room))
	return errors.Join(err, f.Close(), os.Remove(f.Name()))
}
