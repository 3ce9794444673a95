//go:build unix

package atomicfile

import "os"

// SyncDir makes renames and removals in a folder durable.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
