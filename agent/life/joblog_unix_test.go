//go:build unix

package life

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/starling-grid/starling/agent/core"
	"github.com/starling-grid/starling/agent/statetest"
	"github.com/starling-grid/starling/state"
)

// The job log grows by a line a task, and nothing is written through a link or into a pipe.
func TestJobLog(t *testing.T) {
	dir := t.TempDir()
	db := statetest.Open(t, dir)
	l := &Life{Core: &core.Core{DB: db, Dir: dir, Log: slog.New(slog.DiscardHandler)}}
	name := filepath.Join(dir, "job_log_a.example.txt")
	elsewhere := filepath.Join(t.TempDir(), "precious")
	for _, tt := range []struct {
		what    string
		prepare func() error
		lines   int // of the log afterwards (-1: it is not a file)
	}{
		{"nothing", func() error { return nil }, 1},
		{"a log", func() error { return os.WriteFile(name, []byte("one\n"), 0o600) }, 2},
		{"a link to a file", func() error {
			if err := os.WriteFile(elsewhere, []byte("mine\n"), 0o600); err != nil {
				return err
			}
			return os.Symlink(elsewhere, name)
		}, -1},
		{"a link to nothing", func() error { return os.Symlink(elsewhere+".new", name) }, -1},
		{"a pipe", func() error { return syscall.Mkfifo(name, 0o600) }, -1},
		{"a folder", func() error { return os.Mkdir(name, 0o700) }, -1},
	} {
		if err := os.RemoveAll(name); err != nil {
			t.Fatal(err)
		}
		if err := tt.prepare(); err != nil {
			t.Fatal(err)
		}
		l.logJob(state.Result{Project: "https://a.example/"}, time.Now())
		info, err := os.Lstat(name)
		if err != nil {
			t.Fatalf("%s: %v", tt.what, err)
		}
		if !info.Mode().IsRegular() {
			if tt.lines >= 0 {
				t.Errorf("%s: the log is %v", tt.what, info.Mode())
			}
			continue
		}
		text, err := os.ReadFile(name)
		if got := strings.Count(string(text), "\n"); got != tt.lines || err != nil {
			t.Errorf("%s: %d lines, %v", tt.what, got, err)
		}
	}
	if text, err := os.ReadFile(elsewhere); err != nil || string(text) != "mine\n" {
		t.Errorf("what the link named: %q, %v", text, err)
	}
	if _, err := os.Lstat(elsewhere + ".new"); err == nil {
		t.Error("a file was made where a link named it")
	}
}
