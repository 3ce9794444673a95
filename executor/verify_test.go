package executor

import (
	"crypto/md5"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"
)

// Files whose bytes have changed are found, even if their size and times have not. Files that look
// the same as when they were read are not read again for a day.
func TestChangedFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	now := time.Now()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		must(t, os.WriteFile(path, []byte(text), 0o600))
		must(t, os.Chtimes(path, now, now))
	}
	sum := func(text string) string {
		s := md5.Sum([]byte(text))
		return hex.EncodeToString(s[:])
	}
	task := Task{ProjectDir: dir, Files: []File{
		{Physical: "program", MD5: sum("good")}, {Physical: "input", MD5: sum("text")}, {Physical: "own"}, {Physical: "gone", MD5: sum("x")},
	}}
	write("program", "good")
	write("input", "text")
	write("own", "anything")
	var c checks
	verify := func(at time.Time, want ...string) {
		t.Helper()
		err := c.verify(task, at)
		changed, ok := errors.AsType[*ChangedError](err)
		switch {
		case len(want) == 0 && err != nil:
			t.Errorf("got %v", err)
		case len(want) > 0 && (!ok || !slices.Equal(changed.Files, want)):
			t.Errorf("got %v, want %q", err, want)
		}
	}
	verify(now)
	write("program", "evil")
	verify(now, "program")
	write("program", "good")
	verify(now)
	write("input", "longer than it was")
	verify(now, "input")
	write("input", "text")
	verify(now)

	// A disk that loses bytes does not report it. The loss is found a day later.
	write("program", "evil")
	info, err := os.Stat(filepath.Join(dir, "program"))
	must(t, err)
	program := filepath.Join(dir, "program")
	c.seen[program] = &checked{sight: sightOf(program, info), md5: sum("good"), at: now}
	verify(now.Add(23 * time.Hour))
	verify(now.Add(25*time.Hour), "program")
	c.seen[program] = &checked{sight: sightOf(program, info), md5: sum("good"), at: now}
	verify(now.Add(-time.Hour), "program") // the clock was set back: the time since then is unknown

	must(t, os.Mkdir(filepath.Join(dir, "gone"), 0o700))
	verify(now, "program", "gone") // a folder is not a file
}

// The number of files that are remembered is bounded.
func TestChecksAreBounded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "f"), nil, 0o600))
	c := checks{seen: make(map[string]*checked)}
	for i := range maxChecked {
		c.seen[strconv.Itoa(i)] = new(checked)
	}
	empty := md5.Sum(nil)
	must(t, c.verify(Task{ProjectDir: dir, Files: []File{{Physical: "f", MD5: hex.EncodeToString(empty[:])}}}, time.Now()))
	if n := len(c.seen); n > maxChecked {
		t.Errorf("%d are remembered", n)
	}
}
