package e2e_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/internal/testhost"
	"github.com/starling-grid/starling/internal/testwait"
	"github.com/starling-grid/starling/protocol"
)

// ask returns an answer of BOINC's client.
func (c *boincClient) ask(ctx context.Context, args ...string) string {
	c.t.Helper()
	cmd := exec.CommandContext(ctx, "boinccmd", append([]string{"--host", fmt.Sprintf("127.0.0.1:%d", c.port), "--passwd", "secret"}, args...)...)
	cmd.Dir = c.dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		c.t.Fatalf("boinccmd %v: %v: %s", args, err, out)
	}
	return string(out)
}

// until waits until the tasks of BOINC's client are as wanted.
func (c *boincClient) until(ctx context.Context, what string, ok func(tasks string) bool) {
	c.t.Helper()
	testwait.Try(c.t, ctx, what, func() error {
		if tasks := c.ask(ctx, "--get_tasks"); !ok(tasks) {
			return errors.New(tasks)
		}
		return nil
	})
}

// contents returns the content of all files in a folder, to detect changes.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		all[path] = fmt.Sprintf("%x", sha256.Sum256(b))
		return err
	})
	must(t, err)
	return all
}

// TestImportFromBOINC moves from BOINC's client to the agent with one running task and one that is
// finished but not sent yet. The agent reports both as the same computer, and the running one
// resumes from its checkpoint.
func TestImportFromBOINC(t *testing.T) {
	t.Parallel()
	ctx := patience(t)
	p := newProject(t, ctx)
	exponents := []int{4423, 9689} // the client's first request gets only the long one
	workWith(t, ctx, p, 1, slowly(8*time.Millisecond), exponents[0])
	workWith(t, ctx, p, 1, slowly(time.Millisecond), exponents[1]) // ten seconds, so that it runs when the other has its checkpoint
	serve(t, ctx, p)
	c := startBOINC(t, ctx)
	override := "<global_preferences><run_if_user_active>1</run_if_user_active><suspend_cpu_usage>0</suspend_cpu_usage><run_on_batteries>1</run_on_batteries><disk_interval>1</disk_interval><max_ncpus_pct>100</max_ncpus_pct><work_buf_min_days>0.1</work_buf_min_days></global_preferences>\n"
	must(t, os.WriteFile(filepath.Join(c.dir, "global_prefs_override.xml"), []byte(override), 0o600))
	c.do(ctx, "--read_global_prefs_override")
	c.do(ctx, "--project_attach", p.URL, p.Key)
	c.until(ctx, "two tasks, one with a checkpoint", func(s string) bool {
		_, err := os.Stat(filepath.Join(c.dir, "slots/0/checkpoint"))
		return strings.Count(s, "state: downloaded") == 2 && err == nil
	})
	// Unlike permanent choices, temporary ones are not imported.
	c.do(ctx, "--set_network_mode", "never", "100000")
	c.do(ctx, "--task", p.URL, "m4423_0", "suspend")
	c.until(ctx, "one task finished", func(s string) bool { return strings.Contains(s, "state: uploading") })
	c.do(ctx, "--task", p.URL, "m4423_0", "resume")

	a := newAgent(t, "a")
	if out, err := a.Run(ctx, "import", c.dir); err == nil || !strings.Contains(err.Error(), "BOINC's client is running") {
		t.Errorf("with the client running: %q, %v", out, err)
	}
	if err := c.proc.Stop(testhost.Grace); err != nil { // it gives its application a minute to exit
		t.Fatal(err)
	}
	before := contents(t, c.dir)
	b, err := os.ReadFile(filepath.Join(c.dir, "client_state.xml"))
	must(t, err)
	old, err := protocol.ParseClientState(b)
	must(t, err)
	out, err := a.Run(ctx, "import", c.dir)
	must(t, err)
	if want := fmt.Sprintf("computer %d, 2 tasks (1 started, 1 finished)", old.Projects[0].HostID); !strings.Contains(out, want) {
		t.Errorf("import said %q, want %q", out, want)
	}
	if after := contents(t, c.dir); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Error("the import changed BOINC's folder")
	}
	if _, err := a.Run(ctx, "import", c.dir); err == nil || !strings.Contains(err.Error(), "already attached to it") {
		t.Errorf("a second import: %v", err)
	}
	must(t, a.Start())
	creditedOnce(t, ctx, p, 1, exponents...)
	log, err := os.ReadFile(a.Log())
	must(t, err)
	// On a slow day its application finishes in the time that BOINC gives it to exit.
	if !strings.Contains(string(log), "resumed=true") && !strings.Contains(string(log), "result had already finished") {
		t.Error("the begun task was not gone on with")
	}
	s, err := a.Status(ctx)
	must(t, err)
	if len(s.Projects) != 1 || s.Projects[0].HostID != old.Projects[0].HostID {
		t.Errorf("projects %+v; want computer %d as before", s.Projects, old.Projects[0].HostID)
	}
}
