//go:build unix

package executor

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

func TestKillLeftovers(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	// The earlier agent and its application: the test binary itself, run in a slot without an
	// agent.
	b.start(b.task("leave"))
	b.exited()
	cmd := exec.Command(filepath.Join(b.project, programName), "application", "wait")
	cmd.Dir = filepath.Dir(b.slotFile("x"))
	cmd.Env = environment(os.Environ(), nil, "", cmd.Dir, false)
	must(t, cmd.Start())
	b.appears("working")
	// The shell of a person who looks around in a slot is not a leftover.
	shell := exec.Command("sleep", "1000")
	shell.Dir = cmd.Dir
	must(t, shell.Start())
	defer func() { _ = shell.Process.Kill(); _ = shell.Wait() }()
	must(t, b.KillLeftovers(t.Context()))
	if err := cmd.Wait(); err == nil || cmd.ProcessState.ExitCode() != -1 {
		t.Errorf("leftover ended with %v", err)
	}
	if err := shell.Process.Signal(syscall.Signal(0)); err != nil {
		t.Errorf("the person's process was killed: %v", err)
	}
	b.start(b.task("upper"))
	b.ends(Success)
}
