// Package testservice runs programs that tests need and that Go alone can build. They are tools
// with separate module files, so that no program of this project depends on their dependencies.
package testservice

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/lockedfile"

	"github.com/starling-grid/starling/internal/testwait"
)

// Program returns the path of a tool of tools/NAME.mod. It builds the tool if necessary, which
// takes a minute or two. If that fails it skips the test with a notice that untested is NOT tested,
// or fails it if $CI is set. With -short it always skips the test.
func Program(t *testing.T, mod, tool, untested string) string {
	t.Helper()
	if testing.Short() {
		t.Skipf("%s takes long to build; %s NOT tested", tool, untested)
	}
	root, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		t.Fatalf("go list -m: %v", err)
	}
	mod = filepath.Join(strings.TrimSpace(string(root)), "tools", mod+".mod")
	// Two processes that build it at the same time both write the file that they run.
	unlock, err := lockedfile.MutexAt(filepath.Join(os.TempDir(), "starling-test-"+tool+".lock")).Lock()
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	out, err := exec.CommandContext(t.Context(), "go", "tool", "-n", "-modfile="+mod, tool).CombinedOutput()
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("build %s: %v\n%s", tool, err, out)
		}
		t.Skipf("%s cannot be built: %v; %s NOT tested\n%s", tool, err, untested, out)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return lines[len(lines)-1]
}

// Run starts a program and returns when ready returns nil. The program ends with the test, and a
// test that fails logs its output. stop kills it earlier, as a power cut would, and may be called
// more than once.
func Run(t *testing.T, cmd *exec.Cmd, ready func() error) (stop func()) {
	t.Helper()
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(ended)
	}()
	stop = func() {
		_ = cmd.Process.Kill()
		<-ended
	}
	t.Cleanup(func() {
		stop()
		if t.Failed() {
			t.Log(said.String())
		}
	})
	testwait.Try(t, t.Context(), filepath.Base(cmd.Path), func() error {
		err := ready()
		if err == nil {
			return nil
		}
		select {
		case <-ended:
			t.Fatalf("%s ended: %v: %v\n%s", filepath.Base(cmd.Path), cmd.ProcessState, err, said.String())
		default:
		}
		return err
	})
	return stop
}

// FreeAddress is an address on loopback that nothing listens at.
func FreeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
