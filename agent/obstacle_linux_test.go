package agent_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/decide"
	"github.com/starling-grid/starling/internal/testwait"
	"github.com/starling-grid/starling/reason"
)

// mount puts a small file system at a folder of the world's, until the test ends.
func (w *world) mount(t *testing.T, name string, flags uintptr) (dir string) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root mounts file systems; a disk that is full, read-only or without programs is NOT tested")
	}
	dir = filepath.Join(w.dir, name)
	must(t, os.MkdirAll(dir, 0o711))
	if err := unix.Mount("tmpfs", dir, "tmpfs", flags, "size=64k"); err != nil {
		t.Skipf("mount: %v; a disk that is full, read-only or without programs is NOT tested", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// ballast leaves no room on a small file system, and is taken away again.
func ballast(t *testing.T, dir string) (remove func()) {
	t.Helper()
	name := filepath.Join(dir, "ballast")
	if err := os.WriteFile(name, make([]byte, 1<<20), 0o600); err == nil {
		t.Fatal("the file system is not full")
	}
	return func() {
		if err := os.Remove(name); err != nil {
			t.Error(err)
		}
	}
}

// TestAFullDiskIsSaid downloads a file that does not fit on the disk, and arrives once there is
// room.
func TestAFullDiskIsSaid(t *testing.T) {
	t.Parallel()
	answers := withMaster(t, demoURL)
	answers["in_1"] = []answer{{code: 200, body: []byte("hello")}}
	w := newWorld(t, demoURL, answers, downloading)
	remove := ballast(t, w.mount(t, "projects", 0))
	w.run(func(t *testing.T) {
		var x control.Xfer
		for n := 0; n < 600 && x.Trouble == ""; n++ {
			if s := w.after(t, time.Second); len(s.Transfers) == 1 {
				x = s.Transfers[0]
			}
		}
		if x.TroubleCode != reason.DiskFull || x.Trouble != "This computer's disk is full." || !strings.HasPrefix(x.TroubleCure, "Free some disk space.") {
			t.Fatalf("got %+v", x)
		}
		remove()
		for n := 0; n < 600 && len(w.after(t, time.Minute).Transfers) > 0; n++ {
		}
		if s := w.after(t, 0); len(s.Transfers) > 0 || s.Tasks[0].State == "downloading" { // without a program it goes no further
			t.Errorf("with room: %+v, %+v", s.Transfers, s.Tasks)
		}
	})
}

// TestATaskThatCannotBeStartedYet prevents a slot from being made, and checks the text that people
// read.
func TestATaskThatCannotBeStartedYet(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		flags uintptr
		full  bool
		code  reason.Code
		text  string
	}{
		{"a disk that is full", 0, true, reason.DiskFull, "This computer's disk is full. It will be tried again later."},
		{"a disk that takes no changes", unix.MS_RDONLY, false, reason.DiskFails, "This computer's disk reports an error. It will be tried again later."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := plainWorld(t, plainProgram)
			dir := w.mount(t, "slots", tt.flags)
			if tt.full {
				ballast(t, dir)
			}
			w.start(t)
			defer w.stop()
			var r decide.Record
			testwait.Try(t, t.Context(), "an obstacle", func() (err error) {
				r, err = w.a.Decision(t.Context())
				if err == nil && (len(r.Snapshot.Results) != 1 || !r.Snapshot.Results[0].Obstacle.Is()) {
					err = fmt.Errorf("got %+v", r.Snapshot.Results)
				}
				return err
			})
			got, why := r.Snapshot.Results[0].Obstacle, r.Plan.Results[0].Text
			if got.Code != tt.code || !got.Cure("").Is() || why.String() != tt.text {
				t.Errorf("got %+v: %q", got, why)
			}
			if s := w.after(t, 0); len(s.Tasks) != 1 || s.Tasks[0].Why != tt.text {
				t.Errorf("the task says %+v", s.Tasks)
			}
		})
	}
}

// TestAProgramThatMayNotRun uses a file system that does not allow running programs.
func TestAProgramThatMayNotRun(t *testing.T) {
	t.Parallel()
	w := plainWorld(t, plainProgram)
	w.mount(t, "projects", unix.MS_NOEXEC)
	w.start(t)
	defer w.stop()
	f := w.failing(t)
	if f.Code != reason.NotExecutable || !strings.Contains(f.Text, "this computer does not let its program be run") || !strings.Contains(f.Cure, "noexec") {
		t.Errorf("got %+v", f)
	}
	plainWords(t, f.Text)
}
