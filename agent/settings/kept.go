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
	"github.com/starling-grid/starling/internal/foreigndir"
	"github.com/starling-grid/starling/protocol"
)

// KeptDir is the agent's folder in the data directory with copies of the last correct content of
// the files that people edit. That content stays in effect while a file is missing or has errors,
// also across restarts. Below it are the accounts, and the detached ones that can still be
// restored.
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

// keep makes text the content of a kept file. nil removes it. A file with the same content is left
// alone, so that its time is that of the last change.
func keep(path string, text []byte) error {
	if text == nil {
		return remove(path)
	}
	if now, err := foreigndir.ReadFile(path, MaxFile); err == nil && bytes.Equal(now, text) {
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

// keptAt returns the time when a kept file was made, or zero if there is none.
func keptAt(path string) time.Time {
	st, err := os.Stat(path)
	if err != nil {
		return time.Time{}
	}
	return st.ModTime()
}

// DetachedAt returns the time when an account that can be restored was detached.
func DetachedAt(dataDir, masterURL string) time.Time { return keptAt(detachedPath(dataDir, masterURL)) }

// missingFor is the time for which the previous content of a missing file stays in effect.
const missingFor = 24 * time.Hour

// LastGood returns the copy of a file in the data directory, and its time. src is nil if there is
// none.
func LastGood(dataDir, name string) (src []byte, since time.Time) {
	path := keptPath(dataDir, name)
	src, err := foreigndir.ReadFile(path, MaxFile)
	if err != nil {
		return nil, time.Time{}
	}
	return src, keptAt(path)
}

// Keep makes src the copy of a file in the data directory. nil means that the file is missing. Its
// copy then expires after missingFor.
func Keep(dataDir, name string, src []byte, now time.Time) error {
	path, mark := keptPath(dataDir, name), keptPath(dataDir, name+".missing")
	if src != nil {
		return errors.Join(keep(path, src), remove(mark))
	}
	switch since, noted := missingSince(dataDir, name); {
	case keptAt(path).IsZero():
		return remove(mark)
	case !noted:
		return keep(mark, []byte(now.Format(time.RFC3339)+"\n"))
	case !now.Before(since.Add(missingFor)):
		return errors.Join(remove(path), remove(mark))
	}
	return nil
}

func missingSince(dataDir, name string) (since time.Time, noted bool) {
	text, err := foreigndir.ReadFile(keptPath(dataDir, name+".missing"), MaxFile)
	if err != nil {
		return since, false
	}
	since, err = time.Parse(time.RFC3339, string(bytes.TrimSpace(text)))
	return since, err == nil
}

// Missing returns a message that the copy of a missing file stays in effect, and until when. It
// returns nil if it does not, or if there is no copy.
func Missing(dataDir, name string, now time.Time) error {
	if _, since := LastGood(dataDir, name); since.IsZero() {
		return nil
	}
	since, noted := missingSince(dataDir, name)
	if !noted {
		since = now
	}
	until := since.Add(missingFor)
	if !now.Before(until) {
		return nil
	}
	return fmt.Errorf("%s has been missing since %s; its values stay in effect until %s; restore the file, or create an empty one to use the defaults now",
		filepath.Join(dataDir, name), moment(since), moment(until))
}

// dropKept forgets a file that was removed on purpose.
func dropKept(dataDir, name string) error {
	return errors.Join(remove(keptPath(dataDir, name)), remove(keptPath(dataDir, name+".missing")))
}

func moment(t time.Time) string { return t.Local().Format("Monday, 2006-01-02 15:04") }

// StaysInEffect returns a message about the values that replace a file with errors.
func StaysInEffect(dataDir, name string) error {
	return staysInEffect(filepath.Join(dataDir, name), keptAt(keptPath(dataDir, name)))
}

func staysInEffect(path string, since time.Time) error {
	if since.IsZero() {
		return fmt.Errorf("%s: the invalid keys have their defaults until you fix the file", path)
	}
	return fmt.Errorf("%s: the values from %s stay in effect until you fix the file", path, moment(since))
}
