package foreigndir

import (
	"io/fs"
	"os"
	"strings"

	"github.com/starling-grid/starling/internal/busyfile"
)

// nonBlocking is not needed here: on Windows, FIFOs and devices cannot have the name of a file.
const nonBlocking = 0

// syncable is the mode in which a file is opened to be read and then made durable: FlushFileBuffers
// needs the right to write.
const syncable = os.O_RDWR

// RemoveAll removes a file, or a folder with all its content. A missing one is not an error. If
// another program has a file open for a moment, RemoveAll waits for it.
func RemoveAll(root *os.Root, name string) error {
	return busyfile.Retry(func() error { return root.RemoveAll(name) })
}

// Give does nothing on Windows.
func Give(*os.Root, string, int) error { return nil }

// Repair does nothing on Windows.
func Repair(*os.Root, string) error { return nil }

// Usage returns the total size, in bytes, of all files in a folder and below it, plus [EachFile]
// for each file and folder. A missing folder counts as 0. ErrTooDeep means that folders are nested
// more than [MaxDepth] deep, and that the sum covers only those above.
func Usage(root *os.Root, dir string) (sum int64, err error) {
	_ = fs.WalkDir(root.FS(), dir, func(name string, d fs.DirEntry, e error) error {
		if e != nil {
			return nil // count only the accessible files
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
