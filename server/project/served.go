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

// servedFile is locked in the project's directory: shared by every process that serves or changes the project,
// and exclusively by operations that must not run at the same time. The system releases the lock of
// a process that dies. The lock covers only processes on this computer.
const servedFile = "served.lock"

// Errors of Serving and Alone, which exclude each other.
var (
	ErrServed   = errors.New("a server of this project is running; stop it first (or another command is changing the project: wait for its end)")
	ErrRotating = errors.New("the project's code signing key is being rotated, or the project is being moved: try again after that")
)

// Serving notes that this process serves the project, until done is called.
func (p *Project) Serving() (done func() error, err error) { return Serving(p.Dir) }

// Serving is Project.Serving for a project that is not open, and for commands that change it.
func Serving(dir string) (done func() error, err error) {
	l := servedLock(dir)
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

// Files about how the project was last served.
const (
	markFile  = "serving"      // exists while a server runs, and after one that did not end in order
	markLock  = "serving.lock" // locked by every process that serves
	checkFile = "check.json"   // the progress of a check of the database
	checkLock = "check.lock"   // locked by the process that makes the check
)

// IsRunState reports whether name is a file in a project's directory that describes running
// servers only, so that no backup needs it.
func IsRunState(name string) bool {
	switch name {
	case servedFile, markFile, markLock, checkFile, checkLock:
		return true
	}
	return false
}

// unchecked is the content of markFile from an unclean start until a check has found the database whole.
const unchecked = "unchecked\n"

// A Mark records in the project's directory that this process serves the project.
type Mark struct {
	// Unclean reports whether the last server was killed, or its computer stopped. Of several
	// processes it is set only for the first.
	Unclean bool
	// Others reports whether other processes on this computer serve the project.
	Others bool

	path string
	lock *flock.Flock
}

// Mark records that this process serves the project. The caller calls End when it has ended in order.
func (p *Project) Mark() (*Mark, error) {
	m := &Mark{path: filepath.Join(p.Dir, markFile), lock: flock.New(filepath.Join(p.Dir, markLock), flock.SetPermissions(0o644))}
	alone, err := m.lock.TryLock()
	m.Others = !alone
	if err == nil && alone {
		_, err = os.Stat(m.path)
		m.Unclean = err == nil
		switch {
		case m.Unclean:
			err = os.WriteFile(m.path, []byte(unchecked), 0o600)
		case errors.Is(err, fs.ErrNotExist):
			err = os.WriteFile(m.path, nil, 0o600)
		}
		err = errors.Join(err, m.lock.Unlock())
	}
	if err == nil {
		err = m.lock.RLock()
	}
	if err != nil {
		return nil, fmt.Errorf("record that the project is served: %w", err)
	}
	return m, nil
}

// Checked records that the database has been found whole since the unclean end.
func (m *Mark) Checked() error { return os.Truncate(m.path, 0) }

// End records that this process no longer serves the project. The mark of an unclean end stays
// until some process has called Checked.
func (m *Mark) End() error {
	if err := m.lock.Unlock(); err != nil {
		return err
	}
	last, err := m.lock.TryLock()
	if err != nil || !last {
		return err
	}
	content, err := os.ReadFile(m.path)
	if err == nil && string(content) != unchecked {
		err = os.Remove(m.path)
	}
	return errors.Join(err, m.lock.Unlock())
}

// A Check is the progress of a check of the database.
type Check struct {
	Since time.Time `json:"since"`
	Table string    `json:"table"` // that is being read
	Done  int       `json:"done"`  // tables
	All   int       `json:"all"`
}

// StartCheck publishes the progress of a check by this process: each value passed to report, until
// done is called or the process ends.
func (p *Project) StartCheck() (report func(Check) error, done func() error, err error) {
	name, l := filepath.Join(p.Dir, checkFile), flock.New(filepath.Join(p.Dir, checkLock), flock.SetPermissions(0o644))
	if err := l.Lock(); err != nil {
		return nil, nil, fmt.Errorf("publish the progress of a check: %w", err)
	}
	report = func(c Check) error {
		text, err := json.Marshal(c)
		if err != nil {
			return err
		}
		return atomicfile.Write(name, text, 0o600)
	}
	return report, func() error { return errors.Join(removed(name), l.Unlock()) }, nil
}

// Check returns the progress of the check of the database that a server is making, or nil if no
// server is making one.
func (p *Project) Check() (*Check, error) {
	name, l := filepath.Join(p.Dir, checkFile), flock.New(filepath.Join(p.Dir, checkLock), flock.SetPermissions(0o644))
	if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if abandoned, err := l.TryRLock(); err != nil || abandoned { // by a process that was killed
		return nil, errors.Join(err, l.Unlock())
	}
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	c := new(Check)
	if err == nil {
		err = json.Unmarshal(text, c)
	}
	return c, err
}

func removed(name string) error {
	if err := os.Remove(name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
