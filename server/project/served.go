package project

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/gofrs/flock"
)

// servedFile is locked in the project's directory: by every process that serves
// the project, and alone by what none may run beside. The system takes a lock back
// from a process that dies, and knows only of those on this computer.
const servedFile = "served.lock"

// Errors of Serve and RotateKey, which exclude each other.
var (
	ErrServed   = errors.New("a server of this project is running; stop it first")
	ErrRotating = errors.New("the project's code signing key is being rotated")
)

// Serving notes that this process serves the project, until done is called.
func (p *Project) Serving() (done func() error, err error) {
	l := servedLock(p.Dir)
	return l.Unlock, locked(l.TryRLock, ErrRotating)
}

// Alone makes sure that no process serves the project, until done is called.
func (p *Project) Alone() (done func() error, err error) { return Alone(p.Dir) }

// Alone is Project.Alone for a project that is not open.
func Alone(dir string) (done func() error, err error) {
	l := servedLock(dir)
	return l.Unlock, locked(l.TryLock, ErrServed)
}

func servedLock(dir string) *flock.Flock {
	return flock.New(filepath.Join(dir, servedFile), flock.SetPermissions(0o644)) // operator and server may be different users
}

func locked(try func() (bool, error), taken error) error {
	ok, err := try()
	if err != nil {
		return fmt.Errorf("lock: %w", err)
	}
	if !ok {
		return taken
	}
	return nil
}
