package executor

import (
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/starling-grid/starling/executor/sandbox"
)

// An application can neither read nor change the agent's state, another project's files or another
// slot. It uses its own files as usual.
func TestApplicationsAreConfined(t *testing.T) {
	t.Parallel()
	if words, ok := sandbox.Level(); !ok {
		t.Skip(words)
	}
	b := newBench(t)
	for _, name := range []string{"state.db", "gui_rpc_auth.cfg", "accounts/a.toml", "projects/other.example_p/secret", "slots/7/in"} {
		path := filepath.Join(b.data, name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		must(t, os.WriteFile(path, []byte("secret"), 0o600))
	}
	b.put("spy", `#!/bin/sh
for f in ../../state.db ../../gui_rpc_auth.cfg ../../accounts/a.toml ../../projects/other.example_p/secret ../7/in; do
	cat $f && echo "read $f" >>leaks
	echo x >>$f && echo "wrote $f" >>leaks
	rm -f $f
done
echo fine >starling_outputs/r_0_0
echo 0 >boinc_finish_called
`)
	task := b.task()
	task.Program, task.Args = "spy", nil
	b.start(task)
	b.ends(Success)
	if leaks := b.read(b.slotFile("leaks")); leaks != "absent" {
		t.Error(leaks)
	}
	if got := b.read(filepath.Join(b.project, "r_0_0")); got != "fine\n" {
		t.Errorf("its own output: %q", got)
	}
	if got := b.read(filepath.Join(b.data, "state.db")); got != "secret" {
		t.Errorf("the agent's state: %q", got)
	}
}

// Where root cannot become another user, as in a container with only one user, the agent returns an
// error instead of running tasks as root.
func TestRootWithoutOtherUsersRefuses(t *testing.T) {
	t.Parallel()
	if os.Getenv("STARLING_TEST_CONFINE") != "" {
		e, err := New(t.TempDir(), slog.New(slog.DiscardHandler), func(Event) {})
		must(t, err)
		if err = e.Confine(Sandbox{}); err == nil || !strings.Contains(err.Error(), "You can: ") {
			t.Fatalf("got %v", err)
		}
		return
	}
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run=^TestRootWithoutOtherUsersRefuses$")
	cmd.Env = append(os.Environ(), "STARLING_TEST_CONFINE=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	out, err := cmd.CombinedOutput()
	if _, failed := errors.AsType[*exec.ExitError](err); err != nil && !failed {
		t.Skip(err) // such containers cannot be made here
	}
	if err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
