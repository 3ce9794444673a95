package executor

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/starling-grid/starling/executor/sandbox"
)

// A program that the volunteer allows to start virtual machines and containers has the rights and
// the directories of the agent's user, and a service that it starts outlives it. A program that is
// not allowed to, or whose agent runs as root, is confined like any other.
func TestProgramsOutside(t *testing.T) {
	if words, ok := sandbox.Level(); !ok {
		t.Skip(words)
	}
	t.Setenv("HOME", "/home/of-the-user")
	for _, allowed := range []bool{true, false} {
		free := allowed && os.Geteuid() != 0
		b := newBench(t)
		secret := filepath.Join(b.data, "secret")
		must(t, os.WriteFile(secret, []byte("secret"), 0o600))
		b.put("wrapper", `#!/bin/sh
cat ../../secret >seen 2>/dev/null
setsid sh -c 'echo $$ >pid; exec sleep 1000' </dev/null >/dev/null 2>&1 &
until [ -s pid ]; do sleep 0.01; done
echo "$(cat pid) $HOME" >starling_outputs/r_0_0
echo 0 >boinc_finish_called
`)
		task := b.task()
		task.Program, task.Args, task.Runner = "wrapper", nil, Outside{Allowed: allowed}
		b.start(task)
		b.ends(Success)
		text := b.read(filepath.Join(b.project, "r_0_0"))
		id, home, _ := strings.Cut(strings.TrimSpace(text), " ")
		pid, err := strconv.Atoi(id)
		if err != nil {
			t.Fatalf("its output: %q", text)
		}
		lives := syscall.Kill(pid, 0) == nil
		if lives {
			t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
		}
		if lives != free {
			t.Errorf("allowed %v: the service lives: %v, want %v", allowed, lives, free)
		}
		if (home == "/home/of-the-user") != free {
			t.Errorf("allowed %v: HOME is %s", allowed, home)
		}
		if got := b.read(b.slotFile("seen")); (got == "secret") != free {
			t.Errorf("allowed %v: it read %q", allowed, got)
		}
	}
}
