package neighbor_test

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/starling-grid/starling/internal/neighbor"
)

// A lock that is held without an agent does not keep root's agent from starting. Root's agent still
// keeps out root's other agents.
func TestALockOfNobody(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only the system's agents are not kept out by people; this is NOT tested")
	}
	program, err := exec.LookPath("flock")
	if err != nil {
		t.Skip(err)
	}
	dir, err := os.MkdirTemp("", "starling-neighbor-") //nolint:usetesting // everybody can reach it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	file := filepath.Join(dir, "starling-agent.lock")
	if err := errors.Join(os.Chmod(dir, 0o777), os.WriteFile(file, nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	t.Setenv("STARLING_RUN_DIR", dir)
	hold := exec.CommandContext(t.Context(), program, "--exclusive", "--no-fork", file, "sh", "-c", "echo locked; exec sleep 1000")
	hold.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := hold.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := hold.Start(); err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = hold.Process.Kill(); _ = hold.Wait() })
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Skipf("flock says %q, %v", line, err)
	}
	if where, running := neighbor.Running(); running {
		t.Errorf("an agent is said to run, in %q", where)
	}
	leave, _, err := neighbor.Enter(t.Context(), "/first", false)
	if err != nil {
		t.Fatalf("kept out: %v", err)
	}
	if where, running := neighbor.Running(); !running || where != "/first" {
		t.Errorf("it is said to run: %v, in %q", running, where)
	}
	if _, where, err := neighbor.Enter(t.Context(), "/second", false); !errors.Is(err, neighbor.ErrNotAlone) || where != "/first" {
		t.Errorf("a second one: %q, %v", where, err)
	}
	leave()
}
