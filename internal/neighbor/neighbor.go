// Package neighbor lets the agents on one computer notice each other. A project takes them for one
// host, and they would take turns at losing its tasks. So only one agent runs on a computer, unless
// all of its agents are set up to have neighbors.
//
// They share a file lock. A lone agent holds it exclusively, and agents that may have neighbors
// share it. The lock ends with its process.
package neighbor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

// ErrNotAlone is returned if another agent runs on this computer, and it or the new one must not
// have neighbors.
var ErrNotAlone = errors.New("another Starling agent is running on this computer")

// patience is longer than Running holds a lock.
const patience = time.Second

// Dir returns the folder where agents notice each other. All users share it, and it is empty after
// a restart of the computer. STARLING_RUN_DIR overrides it.
func Dir() string {
	if d := os.Getenv("STARLING_RUN_DIR"); d != "" {
		return d
	}
	switch runtime.GOOS {
	case "windows":
		return os.Getenv("ProgramData")
	case "linux":
		if st, err := os.Stat("/dev/shm"); err == nil && st.IsDir() {
			return "/dev/shm"
		}
	}
	return "/tmp" // not TMPDIR, which is the user's own
}

// Enter records that an agent runs on this computer, until leave is called or the process ends.
// several allows it to have neighbors. Enter returns ErrNotAlone if there is a neighbor and either
// of them must not have one, with the neighbor's data directory in where, or "" if unknown.
//
// People cannot keep out an agent of the system (root's or a service's), since they could lock the
// file without running an agent. If such an agent starts next to an agent of theirs, where is that
// agent's data directory.
//
// If agents have no place to notice each other, Enter admits all of them.
func Enter(ctx context.Context, dataDir string, several bool) (leave func(), where string, err error) {
	return enter(ctx, shared, dataDir, several)
}

// shared is the name of the file that all agents lock. private returns the name of a file that only
// agents of this user can lock. The system's agents use it if people hold the shared lock.
const shared = "starling-agent.lock"

func private() string { return fmt.Sprintf("starling-agent-%d.lock", os.Geteuid()) }

func enter(ctx context.Context, name, dataDir string, several bool) (leave func(), where string, err error) {
	path, own := file(name)
	if path == "" {
		return func() {}, "", nil
	}
	lock := flock.New(path, flock.SetFlag(os.O_RDONLY|noFollow))
	try := lock.TryLockContext
	if several {
		try = lock.TryRLockContext
	}
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	got, err := try(limited, 50*time.Millisecond)
	switch {
	case got:
	case errors.Is(err, context.DeadlineExceeded) && heldByStranger(path):
		if name != shared {
			return func() {}, "", nil
		}
		if leave, where, err = enter(ctx, private(), dataDir, several); err == nil {
			where = read(path)
		}
		return leave, where, err
	case errors.Is(err, context.DeadlineExceeded):
		return nil, read(path), ErrNotAlone
	case err != nil && ctx.Err() != nil:
		return nil, "", err
	default:
		return func() {}, "", nil //nolint:nilerr // a system without such locks
	}
	if own {
		_ = os.WriteFile(path, []byte(dataDir+"\n"), 0o644) //nolint:gosec // other users read it, for messages only
	}
	return func() { _ = lock.Unlock() }, "", nil
}

// Running reports whether an agent runs on this computer that must not have
// neighbors, and its data directory, "" if that is not known.
func Running() (where string, running bool) {
	for _, name := range []string{shared, private()} {
		path, _ := file(name)
		if path == "" {
			continue
		}
		lock := flock.New(path, flock.SetFlag(os.O_RDONLY|noFollow))
		if got, err := lock.TryRLock(); got || err != nil {
			_ = lock.Unlock()
			return "", false
		}
		if !heldByStranger(path) {
			return read(path), true
		}
	}
	return "", false
}

// file returns the path of a file to lock, or "" if there can be none, and whether this user owns
// it. It creates a missing file. A folder that all users share may contain anything under that
// name, so it opens the file with care.
func file(name string) (path string, own bool) {
	path = filepath.Join(Dir(), name)
	f, err := os.OpenFile(path, os.O_RDONLY|noFollow, 0)
	if errors.Is(err, fs.ErrNotExist) {
		perm := fs.FileMode(0o600)
		if name == shared {
			perm = 0o644 // other users lock it, too
		}
		f, err = os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, perm)
	}
	if err != nil {
		return "", false
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil || !st.Mode().IsRegular() {
		return "", false
	}
	if own = isOwn(st); name != shared && !own {
		return "", false
	}
	return path, own
}

// read returns the data directory that the holder left, if it looks like one.
func read(path string) string {
	f, err := os.OpenFile(path, os.O_RDONLY|noFollow, 0)
	if err != nil {
		return ""
	}
	defer f.Close()
	b, _ := io.ReadAll(io.LimitReader(f, 4096))
	dir := strings.TrimSpace(string(b))
	if !filepath.IsAbs(dir) || strings.ContainsFunc(dir, func(r rune) bool { return r < ' ' }) {
		return ""
	}
	return dir
}
