package executor

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestDiskUsage(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.start(b.task("wait"))
	b.appears("working")
	b.progress(func(p Progress) bool { return p.Disk > 0 })
	before := b.Progress()["r_0"].Disk
	must(t, os.WriteFile(b.slotFile("big"), make([]byte, 1<<20), 0o600))
	b.progress(func(p Progress) bool { return p.Disk >= before+1<<20 })
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for name, change := range map[string]func(*Task){
		"program outside":           func(t *Task) { t.Program = "../../etc/passwd" },
		"program missing":           func(t *Task) { t.Program = "nothing" },
		"program is a folder":       func(t *Task) { t.Program = "." },
		"physical name outside":     func(t *Task) { t.Files[0].Physical = "../in_1" },
		"physical name empty":       func(t *Task) { t.Files[0].Physical = "" },
		"logical name outside":      func(t *Task) { t.Files[0].Logical = "../in" },
		"logical name in folder":    func(t *Task) { t.Files[0].Logical = "a/b" },
		"line end in a name":        func(t *Task) { t.Files[0].Physical = "a\nb" },
		"reserved name in capitals": func(t *Task) { t.Files[0].Logical = "Init_Data.XML" },
		"reserved name":             func(t *Task) { t.Files[0].Logical = "init_data.xml" },
		"two files of a name":       func(t *Task) { t.Files[1].Logical = "in" },
		"input missing":             func(t *Task) { t.Files[0].Physical = "in_2" },
		"project folder":            func(t *Task) { t.ProjectDir = "/tmp" },
		"slot":                      func(t *Task) { t.Slot = -1 },
	} {
		t.Run(name, func(t *testing.T) {
			task := b.task("upper")
			change(&task)
			if err := b.Start(task); err == nil {
				t.Error("started")
			}
		})
	}
	b.start(b.task("wait"))
	if err := b.Start(b.task("wait")); !errors.Is(err, ErrBusy) {
		t.Errorf("started twice: %v", err)
	}
	if err := b.Clear(0); !errors.Is(err, ErrBusy) {
		t.Errorf("slot in use: %v", err)
	}
	if err := b.Suspend("r_9"); !errors.Is(err, ErrNotRunning) {
		t.Errorf("unknown result: %v", err)
	}
}

func TestLinksOutOfTheProjectAreNotFollowed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	secret := filepath.Join(t.TempDir(), "secret")
	must(t, os.WriteFile(secret, []byte("key"), 0o600))
	must(t, os.Symlink(secret, filepath.Join(b.project, "in_2")))
	task := b.task("upper")
	task.Files[0] = File{Physical: "in_2", Logical: "in", Copy: true}
	if err := b.Start(task); err == nil {
		t.Error("an input outside the project was copied")
	}
	must(t, os.Symlink(secret, filepath.Join(b.project, "r_0_0")))
	b.start(b.task("plain"))
	if e := b.exited(); e.Verdict != ComputeError || e.Outputs[0].MD5 != "" {
		t.Errorf("got %+v", e)
	}
}
