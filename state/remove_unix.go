//go:build unix

package state

import (
	"os"

	"go.etcd.io/bbolt"
)

// removeOpen removes the damaged open file. The handle stays open, because closing it might never
// return.
func removeOpen(path string, _ *bbolt.DB, _ *os.File) error { return os.Remove(path) }
