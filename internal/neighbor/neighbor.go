// Package neighbor lets the agents on one computer notice each other. To a project
// they look like one host, which would take turns at losing its tasks; so there is
// one agent to a computer, unless all of them are told that they are several.
//
// They share a file lock: one that is alone holds it exclusively, those that know of
// each other hold it together. The lock ends with its process.
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

// ErrNotAlone says that an agent runs on this computer that must not have
// neighbors, or that one must not be started beside.
var ErrNotAlone = errors.New("another Starling agent is running on this computer")

// patience outlasts those who just look.
const patience = time.Second

// Dir is where agents notice each other: a folder that all users share and that is
// empty after a restart of the computer, or what STARLING_RUN_DIR names.
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

// Enter notes that an agent runs on this computer, until leave is called or the
// process ends. several says that it may have neighbors. It returns ErrNotAlone when
// there is one and either of them may not; but an agent of the system's, root's or a service's, is
// not kept out by people, who could lock the file without any agent. where is that one's data directory, "" if
// it is not known; without an error, that of an agent of theirs. Where there is no place to notice each other, all are welcome.
func Enter(ctx context.Context, dataDir string, several bool) (leave func(), where string, err error) {
	return enter(ctx, shared, dataDir, several)
}

// Names of the files that are locked: the one of all agents, and one of those of a user of the
// system's, which only they can lock.
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

// file returns the file that is locked, making it if it is not there, and whether it
// is this user's own; "" if there can be none. In a folder that all users share it
// may be anything, so it is opened with care.
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
