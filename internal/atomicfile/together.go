package atomicfile

import (
	"errors"
	"os"
)

// atOnce is the number of files that are made durable at a time, so that they wait for the disk
// together.
const atOnce = 8

// A Group makes files and folders of one file system durable together, which on
// Linux costs hardly more than for one alone. It is for one goroutine.
type Group struct {
	root *os.File // opened before any file is written, so that it receives the errors
}

// NewGroup begins a group below the folder root, before its files are written. The
// caller closes it.
func NewGroup(root string) (*Group, error) {
	f, err := os.Open(root)
	return &Group{f}, err
}

// Close ends the group.
func (g *Group) Close() error { return g.root.Close() }

// Sync makes files and folders durable as they are now.
func (g *Group) Sync(files, folders []string) error {
	if g.together(len(files) + len(folders)) {
		return nil
	}
	return errors.Join(each(files, syncFile), each(folders, SyncDir))
}

// each calls sync for every name, and returns what went wrong first.
func each(names []string, sync func(string) error) error {
	slots := make(chan struct{}, atOnce)
	failed := make(chan error, len(names))
	for _, name := range names {
		slots <- struct{}{}
		go func() {
			failed <- sync(name)
			<-slots
		}()
	}
	var first error
	for range names {
		if err := <-failed; first == nil {
			first = err
		}
	}
	return first
}

func syncFile(name string) error {
	f, err := os.OpenFile(name, os.O_WRONLY, 0) // Windows syncs none that is open for reading
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}
