package project

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/starling-grid/starling/internal/atomicfile"
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

// Files that say how the project was last served.
const (
	markFile  = "serving"      // it is there while a server runs, and after one that did not end in order
	markLock  = "serving.lock" // held by those who serve
	checkFile = "check.json"   // how far the check of the database is, while there is one
)

// Mark notes that this process serves the project. unclean reports whether the last that did so
// was killed, or its computer stopped: only the first of several processes is told. The caller
// calls unmark when it has ended in order, with whether the database is known to be whole.
func (p *Project) Mark() (unclean bool, unmark func(whole bool) error, err error) {
	mark, l := filepath.Join(p.Dir, markFile), flock.New(filepath.Join(p.Dir, markLock), flock.SetPermissions(0o644))
	alone, err := l.TryLock()
	if err == nil && alone {
		_, err = os.Stat(mark)
		unclean = err == nil
		if errors.Is(err, fs.ErrNotExist) {
			err = os.WriteFile(mark, nil, 0o600)
		}
		err = errors.Join(err, l.Unlock())
	}
	if err == nil {
		err = l.RLock()
	}
	if err != nil {
		return false, nil, fmt.Errorf("note that the project is served: %w", err)
	}
	return unclean, func(whole bool) error {
		if err := l.Unlock(); err != nil {
			return err
		}
		last, err := l.TryLock()
		if err != nil || !last {
			return err
		}
		if whole {
			err = os.Remove(mark)
		}
		return errors.Join(err, l.Unlock())
	}, nil
}

// A Check is how far a check of the database is.
type Check struct {
	Since time.Time `json:"since"`
	Table string    `json:"table"` // that is being read
	Done  int       `json:"done"`  // tables
	All   int       `json:"all"`
}

// SetCheck notes how far a check is; nil: it is over.
func (p *Project) SetCheck(c *Check) error {
	name := filepath.Join(p.Dir, checkFile)
	if c == nil {
		if err := os.Remove(name); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	text, err := json.Marshal(c)
	if err != nil {
		return err
	}
	return atomicfile.Write(name, text, 0o600)
}

// Check returns how far a check of the database is that a server is making; nil: none does.
func (p *Project) Check() (*Check, error) {
	text, err := os.ReadFile(filepath.Join(p.Dir, checkFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	c := new(Check)
	if err == nil {
		err = json.Unmarshal(text, c)
	}
	return c, err
}
