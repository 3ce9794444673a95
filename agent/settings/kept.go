package settings

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/starling-grid/starling/internal/atomicfile"
	"github.com/starling-grid/starling/protocol"
)

// KeptDir is the agent's own folder in the data directory with copies of what the
// files that people edit said when they were last in order. What a file says holds
// on while it is missing or has errors, whatever is restarted meanwhile. Below it
// lie the accounts, and those that were detached and can still be restored.
const KeptDir = "lastgood"

func keptPath(dataDir, name string) string  { return filepath.Join(dataDir, KeptDir, name) }
func keptAccountsDir(dataDir string) string { return keptPath(dataDir, AccountsDir) }
func detachedDir(dataDir string) string     { return keptPath(dataDir, "detached") }
func detachedPath(dataDir, u string) string {
	return filepath.Join(detachedDir(dataDir), protocol.EscapeURL(u)+".toml")
}
func removeBoth(account string) error {
	return errors.Join(remove(overridePath(account)), remove(account))
}

// keep makes text the content of a kept file; nil is none. A file that has it
// already is left alone: its time says since when.
func keep(path string, text []byte) error {
	if text == nil {
		return remove(path)
	}
	if now, err := os.ReadFile(path); err == nil && bytes.Equal(now, text) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return atomicfile.Write(path, text, 0o600)
}

func remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// keptAt is when a kept file was made; zero: there is none.
func keptAt(path string) time.Time {
	st, err := os.Stat(path)
	if err != nil {
		return time.Time{}
	}
	return st.ModTime()
}

// DetachedAt is when an account was detached that can be restored.
func DetachedAt(dataDir, masterURL string) time.Time { return keptAt(detachedPath(dataDir, masterURL)) }

// staysInEffect says what holds in place of a file that has errors.
func staysInEffect(path string, since time.Time) error {
	if since.IsZero() {
		return fmt.Errorf("%s: the defaults are in effect until you fix the file", path)
	}
	return fmt.Errorf("%s: its values of %s stay in effect until you fix the file", path, since.Local().Format("Monday, 2006-01-02 15:04"))
}
