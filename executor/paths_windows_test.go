package executor

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Files whose paths are longer than the 260 characters that old programs can open are found,
// written, moved and removed.
func TestLongPaths(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	name := strings.Repeat("n", 240)
	b.put(name, "hello")
	if path := filepath.Join(b.project, name); len(path) < 260 {
		t.Fatalf("%s has %d characters only", path, len(path))
	}
	task := b.task("upper")
	task.Files = []File{
		{Physical: name, Logical: "in"},
		{Physical: strings.Repeat("o", 240), Logical: "out", Output: true, MaxBytes: 1000},
	}
	deep := b.slotFile(filepath.Join(strings.Repeat("a", 200), strings.Repeat("b", 200)))
	b.start(b.task("wait"))
	b.appears("working")
	must(t, os.MkdirAll(deep, 0o700))
	_ = b.Quit("r_0")
	b.exited()
	b.start(b.task("wait")) // the run continues in the slot with its content
	b.progress(func(p Progress) bool { return p.PID > 0 })
	_ = b.Quit("r_0")
	b.exited()
	must(t, b.Clear(0))
	if _, err := os.Stat(b.slotFile("")); err == nil {
		t.Error("the slot is still there")
	}
	b.start(task)
	if e := b.exited(); e.Verdict != Success || b.read(filepath.Join(b.project, strings.Repeat("o", 240))) != "HELLO" {
		t.Errorf("got %+v", e)
	}
}

func TestADataDirectoryThatIsTooDeep(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), strings.Repeat("d", 120), strings.Repeat("e", 120))
	must(t, os.MkdirAll(dir, 0o700))
	if _, err := New(dir, slog.New(slog.DiscardHandler), nil); err == nil || !strings.Contains(err.Error(), "choose a shorter --data") {
		t.Errorf("got %v", err)
	}
}
