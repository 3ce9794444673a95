//go:build unix

package foreigndir

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// block is the unit of what the system counts of a file.
const block = 512

// Usage returns the bytes that a folder with all that is in it occupies on the
// disk, and [EachFile] for each of that; one that is not there occupies none. Entries that come and go meanwhile
// may be missed. ErrTooDeep says that folders are nested more than [MaxDepth]
// deep; the sum is then that of those above.
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

// usage closes d.
func usage(d *os.File, depth int) (sum int64, err error) {
	defer d.Close()
	if depth > MaxDepth {
		return 0, ErrTooDeep
	}
	var st unix.Stat_t
	for {
		names, _ := d.Readdirnames(batch) // at its end: none
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
