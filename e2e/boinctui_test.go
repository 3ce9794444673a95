package e2e_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/agent/control"
)

// TestBoinctui looks at Debian's boinctui in a terminal while our agent computes.
func TestBoinctui(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"boinctui", "tmux"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(program + " is not installed; tools/install-test-deps installs it")
		}
	}
	ctx := patience(t)
	p := newProject(t, ctx)
	work(t, ctx, p, 1, 86243)
	serve(t, ctx, p)
	a, port := newSteered(t, "a")
	startAgent(t, ctx, a, p)
	await(t, ctx, a, "a running task", func(s control.Status) bool {
		return len(s.Tasks) == 1 && s.Tasks[0].Running && s.Tasks[0].Fraction > 0.02
	})
	password, err := os.ReadFile(filepath.Join(a.Dir, "gui_rpc_auth.cfg"))
	if err != nil {
		t.Fatal(err)
	}
	tmux := func(args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(ctx, "tmux", append([]string{"-S", filepath.Join(a.Dir, "tmux")}, args...)...)
		cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "TERM=screen-256color", "LC_ALL=C.UTF-8")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("tmux %v: %v: %s", args, err, out)
		}
		return string(out)
	}
	tmux("new-session", "-d", "-x", "180", "-y", "45", "boinctui",
		fmt.Sprintf("--boinchost=127.0.0.1:%d", port), "--pwd="+strings.TrimSpace(string(password)))
	t.Cleanup(func() {
		_ = exec.CommandContext(context.WithoutCancel(ctx), "tmux", "-S", filepath.Join(a.Dir, "tmux"), "kill-server").Run()
	})
	for screen := ""; ; screen = tmux("capture-pane", "-p") {
		if strings.Contains(screen, "m86243_0") && strings.Contains(screen, "e2e") && strings.Contains(screen, "Run") {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("the task never appeared:\n%s", screen)
		case <-time.After(200 * time.Millisecond):
		}
	}
}
