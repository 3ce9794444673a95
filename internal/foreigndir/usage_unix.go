//go:build unix

package foreigndir

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// block is the unit of the system's count of a file's blocks.
const block = 512

// Usage returns the number of bytes that a folder with all its content occupies on the disk, plus
// [EachFile] for each entry. A missing folder counts as 0. Entries that are added or removed
// meanwhile may be missed. ErrTooDeep means that folders are nested more than [MaxDepth] deep, and
// that the sum covers only those above.
func Usage(root *os.Root, dir string) (int64, error) {
	d, err := openFolder(root, dir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return usage(d, 1)
}

// usage returns the usage of an open folder, and closes d.
func usage(d *os.File, depth int) (sum int64, err error) {
	defer d.Close()
	if depth > MaxDepth {
		return 0, ErrTooDeep
	}
	var st unix.Stat_t
	for {
		names, _ := d.Readdirnames(batch) // no names at the end
		if len(names) == 0 {
			return sum, err
		}
		for _, name := range names {
			if unix.Fstatat(int(d.Fd()), name, &st, unix.AT_SYMLINK_NOFOLLOW) != nil {
				continue
			}
			sum += EachFile + st.Blocks*block
			if st.Mode&unix.S_IFMT != unix.S_IFDIR {
				continue
			}
			if sub, e := openDir(d, name); e == nil {
				below, e := usage(sub, depth+1)
				sum += below
				if e != nil {
					err = e
				}
			}
		}
	}
}
