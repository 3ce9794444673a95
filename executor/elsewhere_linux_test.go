package executor

import (
	"bufio"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// A container's agent may have its data directory at the same path, and its processes may be
// visible from outside. They are not taken for leftovers.
func TestAContainerWithTheSamePath(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("mounts need root")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	slot := filepath.Join(dir, "slots", "0")
	must(t, os.MkdirAll(slot, 0o700))
	e, err := New(dir, slog.New(slog.DiscardHandler), func(Event) {})
	must(t, err)
	begin := func(wrap ...string) int {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), wrap[0], append(wrap[1:], fmt.Sprintf("cd '%s' && echo ready && exec sleep 100", slot))...)
		cmd.Env = append(os.Environ(), slotMark+"="+slot)
		out, err := cmd.StdoutPipe()
		must(t, err)
		must(t, cmd.Start())
		t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
		if line, _ := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
			t.Skip("no mount namespace can be made here")
		}
		return cmd.Process.Pid
	}
	ours := begin("sh", "-c")
	theirs := begin("unshare", "--mount", "sh", "-c", fmt.Sprintf("mount -t tmpfs none '%s' && mkdir -p '%s' && ", dir, slot)+`eval "$1"`, "sh")
	found := e.inhabitants(filepath.Join(dir, "slots"), e.ours)
	if !slices.Contains(found, ours) {
		t.Errorf("%d, which is ours, is not among %v", ours, found)
	}
	if slices.Contains(found, theirs) {
		t.Errorf("%d, which is a container's, is among %v", theirs, found)
	}
	other, err := New(t.TempDir(), slog.New(slog.DiscardHandler), func(Event) {})
	must(t, err)
	other.dir = e.dir // the path inside the container
	if e.ours(other.mark(0)) {
		t.Error("another data directory of the same path has the same marks")
	}
}
