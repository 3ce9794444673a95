package logfile_test

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/agent/logfile"
	"github.com/starling-grid/starling/protocol"
)

func all(control.Message) bool { return true }

// TestFullFiles writes more than files may hold. The files that remain are limited in size, and are
// read back in the order of writing.
func TestFullFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data [1]") // no pattern
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	f := logfile.Open(dir, 1, 5)
	log := slog.New(f.Handler(slog.LevelInfo))
	const n = 2500 // of a kilobyte each: two full files and a half
	filler := strings.Repeat("x", 1000)
	for i := range n {
		log.Debug("not wanted")
		log.With("project", fmt.Sprintf("http://p%d.example/", i%2)).Info("m", "filler", filler, "i", i)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(filepath.Dir(dir), "*", "stdout*.log"))
	if err != nil || len(files) < 3 {
		t.Errorf("files %q, %v; want 3", files, err)
	}
	for _, name := range files {
		st, err := os.Stat(name)
		if err != nil || st.Size() > 1<<20 || runtime.GOOS != "windows" && st.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, st, err)
		}
	}
	got, err := logfile.Last(dir, 2000, all) // more than the newest file holds
	if err != nil || len(got) != 2000 {
		t.Fatalf("%d messages, %v", len(got), err)
	}
	for i, m := range got {
		if want := fmt.Sprintf(" i=%d", n-2000+i); !strings.HasSuffix(m.Text, want) || m.Level != "INFO" || m.Time.IsZero() {
			t.Fatalf("message %d ends with %q, want %q", i, m.Text[len(m.Text)-10:], want)
		}
	}
	got, err = logfile.Last(dir, 10, func(m control.Message) bool { return m.Project == "http://p1.example/" })
	if err != nil || len(got) != 10 || !strings.HasSuffix(got[9].Text, fmt.Sprintf(" i=%d", n-1)) || !strings.HasSuffix(got[8].Text, fmt.Sprintf(" i=%d", n-3)) {
		t.Errorf("of one project: %d, %v", len(got), err)
	}
}

func TestSecretsAndHalfLines(t *testing.T) {
	dir := t.TempDir()
	if _, err := logfile.Last(dir, 1, all); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	f := logfile.Open(dir, 1, 1)
	log := slog.New(f.Handler(slog.LevelInfo))
	log.Warn("one", "key", protocol.Authenticator("0123"))
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, logfile.Name)
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, append(b, `{"time":"2026-`...), 0o600); err != nil { // the power was cut
		t.Fatal(err)
	}
	got, err := logfile.Last(dir, 10, all)
	if err != nil || len(got) != 1 || got[0].Text != "one key=(hidden)" || got[0].Level != "WARN" {
		t.Errorf("got %+v, %v", got, err)
	}
}

// TestOldestFilesGo fills more files than are kept, and continues one that another process left.
func TestOldestFilesGo(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, logfile.Name)
	if err := os.WriteFile(name, []byte(`{"text":"from before"}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f := logfile.Open(dir, 1, 2)
	defer f.Close()
	log := slog.New(f.Handler(slog.LevelInfo))
	log.Info("0")
	if got, err := logfile.Last(dir, 10, all); err != nil || len(got) != 2 || got[0].Text != "from before" {
		t.Errorf("got %+v, %v", got, err)
	}
	filler := strings.Repeat("x", 1000)
	const n = 4500 // of a kilobyte each: more than three files hold
	for i := range n {
		log.Info("m", "filler", filler, "i", i)
	}
	files, err := filepath.Glob(filepath.Join(dir, "stdout*.log"))
	if err != nil || len(files) != 3 {
		t.Errorf("files %q, %v; want 3", files, err)
	}
	got, err := logfile.Last(dir, n, all)
	if err != nil || len(got) < n/3 || len(got) > n*3/4 || !strings.HasSuffix(got[len(got)-1].Text, fmt.Sprintf(" i=%d", n-1)) {
		t.Errorf("%d messages, %v", len(got), err)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 1000 {
				log.Info("at the same time")
			}
		})
	}
	wg.Wait()
	same := func(m control.Message) bool { return m.Text == "at the same time" }
	if got, err := logfile.Last(dir, 10_000, same); err != nil || len(got) != 4000 {
		t.Errorf("%d messages of 4000, %v", len(got), err)
	}
}
