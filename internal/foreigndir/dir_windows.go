package foreigndir

import (
	"io/fs"
	"os"
	"strings"

	"github.com/starling-grid/starling/internal/busyfile"
)

// nonBlocking has no counterpart: what would block cannot have a file's name.
const nonBlocking = 0

// syncable is how a file is opened that is read and then made durable: FlushFileBuffers
// wants the right to write.
const syncable = os.O_RDWR

// RemoveAll removes what has this name, a folder with all that is in it. That
// there is nothing is no error. What another program has open for a moment is waited for.
func RemoveAll(root *os.Root, name string) error {
	return busyfile.Retry(func() error { return root.RemoveAll(name) })
}

// Give makes a user the owner of what has this name; here it does nothing.
func Give(*os.Root, string, int) error { return nil }

// Repair gives this user back the permissions over a folder that a program of the
// same user took away; here it does nothing.
func Repair(*os.Root, string) error { return nil }

// Usage returns the bytes of all files in a folder and below it, and [EachFile] for each file
// and folder; one that is not
// there has none. ErrTooDeep says that folders are nested more than [MaxDepth]
// deep; the sum is then that of those above.
func Usage(root *os.Root, dir string) (sum int64, err error) {
	_ = fs.WalkDir(root.FS(), dir, func(name string, d fs.DirEntry, e error) error {
		if e != nil {
			return nil // count what can be seen
		}
		if d.IsDir() && strings.Count(name, "/")-strings.Count(dir, "/") > MaxDepth {
			err = ErrTooDeep
			return fs.SkipDir
		}
		if name == dir {
			return nil
		}
		sum += EachFile
		if info, e := d.Info(); e == nil && info.Mode().IsRegular() {
			sum += info.Size()
		}
		return nil
	})
	return sum, err
}
