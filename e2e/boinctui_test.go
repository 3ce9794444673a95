package e2e_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/starling-grid/starling/agent/control"
)

// TestBoinctui runs Debian's boinctui in a terminal while our agent computes.
func TestBoinctui(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("boinctui"); err != nil {
		t.Skip("boinctui is not installed; tools/install-test-deps installs it")
	}
	ctx := patience(t)
	p := newProject(t, ctx)
	lastingWork(t, ctx, p, 1)
	serve(t, ctx, p)
	a, port := newSteered(t, "a")
	startAgent(t, ctx, a, p)
	await(t, ctx, a, "a running task", func(s control.Status) bool {
		return len(s.Tasks) == 1 && s.Tasks[0].Running && s.Tasks[0].Fraction > 0.02
	})
	password, err := os.ReadFile(filepath.Join(a.Dir, "gui_rpc_auth.cfg"))
	must(t, err)
	screen := openScreen(t, ctx, 180, 45, "boinctui",
		fmt.Sprintf("--boinchost=127.0.0.1:%d", port), "--pwd="+strings.TrimSpace(string(password)))
	screen.until(lasting+"_0", "e2e", "Run")
}
