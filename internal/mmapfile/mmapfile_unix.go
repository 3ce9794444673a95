//go:build unix

package mmapfile

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Map maps the first size bytes of f, which must be open for reading and writing. f must have at
// least that size, because touching memory behind its end would kill the process. f may be closed
// afterwards. The memory is aligned to a page. Unmap releases it.
func Map(f *os.File, size int) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() < int64(size) {
		return nil, fmt.Errorf("map %s: file has %d bytes, want %d", f.Name(), info.Size(), size)
	}
	mem, err := unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("map %s: %w", f.Name(), err)
	}
	return mem, nil
}

// Unmap releases memory that Map returned. The memory must not be used afterwards.
func Unmap(mem []byte) error { return unix.Munmap(mem) }
