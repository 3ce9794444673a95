package settings

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/starling-grid/starling/internal/atomicfile"
	"github.com/starling-grid/starling/internal/foreigndir"
	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/protocol"
)

// KeptDir is the agent's own folder in the data directory with copies of the last good versions of
// the files that people edit. A version stays in effect while its file is missing or has errors,
// even across a restart. The folder also has the accounts, and detached accounts that can still be
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

// keep makes text the content of a kept file, or deletes the file if text is nil. It does not write
// the same content again, because the file's time is the start of that version.
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

// keptAt returns the time of a kept file, or zero without one.
func keptAt(path string) time.Time {
	st, err := os.Stat(path)
	if err != nil {
		return time.Time{}
	}
	return st.ModTime()
}

// DetachedAt returns the time at which an account that can be restored was detached.
func DetachedAt(dataDir, masterURL string) time.Time { return keptAt(detachedPath(dataDir, masterURL)) }

// missingFor is the time for which the last version of a missing file stays in effect.
const missingFor = 24 * time.Hour

// LastGood returns the last good version of a file in the data directory and its time, or nil
// without one.
func LastGood(dataDir, name string) (src []byte, since time.Time) {
	path := keptPath(dataDir, name)
	src, err := foreigndir.ReadFile(path, MaxFile)
	if err != nil {
		return nil, time.Time{}
	}
	return src, keptAt(path)
}

// Keep makes src the last good version of a file in the data directory. nil means that the file is
// missing, after which the kept version expires.
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

// Missing returns a note that the last version of a missing file is in effect, and until when. It
// returns nil if that is not so.
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
	return words.Refuse(words.T("{file} has been missing since {time}; its values stay in effect until {end}; restore the file, or create an empty one to use the defaults now",
		"file", filepath.Join(dataDir, name), "time", moment(since), "end", moment(until)))
}

// dropKept forgets a file that was removed on purpose.
func dropKept(dataDir, name string) error {
	return errors.Join(remove(keptPath(dataDir, name)), remove(keptPath(dataDir, name+".missing")))
}

func moment(t time.Time) words.Text {
	return words.T("{weekday}, {time}", "weekday", weekdays[t.Local().Weekday()], "time", words.Moment(t.Local()))
}

var weekdays = [...]words.Text{words.T("Sunday"), words.T("Monday"), words.T("Tuesday"), words.T("Wednesday"), words.T("Thursday"), words.T("Friday"), words.T("Saturday")}

// StaysInEffect returns a note about the version that is in effect in place of a file with errors.
func StaysInEffect(dataDir, name string) error {
	return staysInEffect(filepath.Join(dataDir, name), keptAt(keptPath(dataDir, name)))
}

func staysInEffect(path string, since time.Time) error {
	if since.IsZero() {
		return words.Refuse(words.T("{file}: the invalid keys have their defaults until you fix the file", "file", path))
	}
	return words.Refuse(words.T("{file}: the values from {time} stay in effect until you fix the file", "file", path, "time", moment(since)))
}
