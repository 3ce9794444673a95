package state

import (
	"os"
	"time"

	"go.etcd.io/bbolt"
)

// removeOpen removes the damaged file that is open. Windows lets no file go that is open or
// mapped. Closing it might never end; what is mapped still then can at least be renamed, and
// is left aside.
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
	_ = f.Close() // or another could not lock its successor
	if err := os.Remove(path); err == nil || os.IsNotExist(err) {
		return nil
	}
	return os.Rename(path, path+".unusable-"+time.Now().UTC().Format("20060102-150405.000"))
}
