package state

import (
	"os"
	"time"

	"go.etcd.io/bbolt"
)

// removeOpen removes the damaged open file. Windows does not remove files that are open or mapped.
// Closing it might never return. A file that is still mapped then can be renamed, and is left
// there.
func removeOpen(path string, b *bbolt.DB, f *os.File) error {
	closed := make(chan struct{})
	go func() {
		_ = guard(b.Close)
		close(closed)
	}()
	select {
	case <-closed:
	case <-time.After(time.Second):
	}
	_ = f.Close() // otherwise a later handle could not lock its successor
	if err := os.Remove(path); err == nil || os.IsNotExist(err) {
		return nil
	}
	return os.Rename(path, path+".unusable-"+time.Now().UTC().Format("20060102-150405.000"))
}
