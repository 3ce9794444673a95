package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/internal/testhost"
	"github.com/starling-grid/starling/internal/testwait"
)

// A tool is Debian's boinccmd, connected to our agent.
type tool struct {
	t    *testing.T
	ctx  context.Context
	dir  string
	port int
}

// run runs a subcommand and returns its output and exit status.
func (c tool) run(args ...string) (string, int) {
	c.t.Helper()
	cmd := exec.CommandContext(c.ctx, "boinccmd", append([]string{"--host", fmt.Sprintf("127.0.0.1:%d", c.port)}, args...)...)
	cmd.Dir = c.dir // where it reads the password
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		c.t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// wants checks that a subcommand succeeds and that its output matches patterns.
func (c tool) wants(args []string, patterns ...string) string {
	c.t.Helper()
	out, code := c.run(args...)
	if code != 0 {
		c.t.Errorf("boinccmd %v: exit status %d: %s", args, code, out)
	}
	for _, p := range patterns {
		if !regexp.MustCompile("(?m)" + p).MatchString(out) {
			c.t.Errorf("boinccmd %v: no %q in\n%s", args, p, out)
		}
	}
	return out
}

// until repeats a subcommand until its output matches pattern.
func (c tool) until(args []string, pattern string) {
	c.t.Helper()
	testwait.Try(c.t, c.ctx, fmt.Sprintf("boinccmd %v to print %q", args, pattern), func() error {
		out, _ := c.run(args...)
		if !regexp.MustCompile("(?m)" + pattern).MatchString(out) {
			return fmt.Errorf("it prints %s", out)
		}
		return nil
	})
}

// TestBoinccmd runs the subcommands of Debian's boinccmd, and checks that their output is correct
// and their requests are carried out.
func TestBoinccmd(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("boinccmd"); err != nil {
		t.Skip("boinccmd is not installed; tools/install-test-deps installs it")
	}
	ctx := patience(t)
	p := newProject(t, ctx)
	lastingWork(t, ctx, p, 1)
	serve(t, ctx, p)
	a, port := newSteered(t, "a")
	must(t, a.Start())
	c := tool{t, ctx, a.Dir, port}
	c.until([]string{"--client_version"}, `^Client version: \d+\.\d+\.\d+`)

	// Attach, as a person would.
	c.wants([]string{"--get_project_config", p.URL}, `e2e`)
	c.wants([]string{"--lookup_account", p.URL, testhost.Email, testhost.Password}, `^account key: `+p.Key)
	if out, _ := c.run("--lookup_account", p.URL, testhost.Email, "wrong one"); !strings.Contains(out, "-206") && !strings.Contains(out, "password") {
		t.Errorf("with a wrong password: %s", out)
	}
	c.wants([]string{"--create_account", p.URL, "new@example.org", "secret8", "New"}, `^account key: [0-9a-f]{32}`)
	c.wants([]string{"--project_attach", p.URL, p.Key})
	if out, code := c.run("--project_attach", p.URL, p.Key); code == 0 || !strings.Contains(out, "Already attached") {
		t.Errorf("attached twice: %d %s", code, out)
	}
	s := await(t, ctx, a, "a running task", func(s control.Status) bool {
		return len(s.Tasks) == 1 && s.Tasks[0].Running && s.Tasks[0].Fraction > 0
	})
	task := s.Tasks[0].Name

	// Reports.
	c.wants([]string{"--get_state"}, `master URL: `+p.URL, `user_name: ada`, `name: `+task, `active_task_state: EXECUTING`, `app version num: 100`, `name: mersenne`)
	c.until([]string{"--get_tasks"}, `fraction done: 0\.\d*[1-9]`) // the task reports its progress now, which Status only estimated before
	c.wants([]string{"--get_tasks"}, `name: `+task, `scheduler state: scheduled`, `current CPU time: `, `PID|slot`)
	c.wants([]string{"--get_simple_gui_info"}, `name: `+task)
	c.wants([]string{"--get_project_status"}, `name: e2e`, `resource share: 100`)
	c.wants([]string{"--get_cc_status"}, `CPU status`, `not suspended`)
	c.wants([]string{"--get_host_info"}, `#CPUS: 1`, `OS name: Linux`, `CPU FP OPS: [1-9]`)
	c.wants([]string{"--get_disk_usage"}, `total: [1-9]`)
	c.wants([]string{"--get_daily_xfer_history"}, `down`)
	c.wants([]string{"--get_messages"}, `project attached`)
	c.wants([]string{"--get_messages", "3"}, `^4: `)
	c.wants([]string{"--get_message_count"}, `: [1-9]`)
	c.wants([]string{"--get_notices"})
	c.wants([]string{"--get_file_transfers"})
	c.wants([]string{"--get_old_tasks"})
	c.wants([]string{"--get_proxy_settings"})
	c.wants([]string{"--acct_mgr", "info"})

	// Requests.
	c.wants([]string{"--task", p.URL, task, "suspend"})
	c.until([]string{"--get_tasks"}, `suspended via GUI: yes`)
	c.until([]string{"--get_tasks"}, `scheduler state: (preempted|uninitialized)|active_task_state: UNINITIALIZED`)
	c.wants([]string{"--task", p.URL, task, "resume"})
	c.until([]string{"--get_tasks"}, `scheduler state: scheduled`)
	c.wants([]string{"--project", p.URL, "suspend"})
	c.until([]string{"--get_project_status"}, `suspended via GUI: yes`)
	c.wants([]string{"--project", p.URL, "resume"})
	c.wants([]string{"--project", p.URL, "nomorework"})
	c.until([]string{"--get_project_status"}, `don't request more work: yes`)
	c.wants([]string{"--project", p.URL, "allowmorework"})
	c.wants([]string{"--project", p.URL, "update"})
	c.wants([]string{"--project", p.URL, "detach_when_done"})
	c.wants([]string{"--project", p.URL, "dont_detach_when_done"})
	c.wants([]string{"--set_run_mode", "never", "3600"})
	c.until([]string{"--get_cc_status"}, `suspended: user request`)
	c.wants([]string{"--set_run_mode", "auto"})
	c.until([]string{"--get_tasks"}, `scheduler state: scheduled`)
	c.wants([]string{"--set_network_mode", "never", "3600"})
	c.until([]string{"--get_cc_status"}, `(?s)Network status.*suspended: user request`)
	c.wants([]string{"--set_network_mode", "always"})
	c.wants([]string{"--set_network_mode", "auto"})
	c.wants([]string{"--get_cc_status"}, `(?s)GPU status\s+not suspended`)
	c.wants([]string{"--set_gpu_mode", "never"})
	c.wants([]string{"--get_cc_status"}, `(?s)GPU status\s+suspended: user request\s+current mode: never`)
	c.wants([]string{"--set_gpu_mode", "auto"})
	c.wants([]string{"--network_available"})
	c.wants([]string{"--run_benchmarks"})
	c.wants([]string{"--reset_host_info"})
	own := filepath.Join(a.Dir, "starling.toml")
	text, err := os.ReadFile(own)
	must(t, err)
	must(t, os.WriteFile(own, []byte(strings.Replace(string(text), "ncpus = 1\n", "ncpus = 2\n", 1)), 0o600))
	c.wants([]string{"--read_cc_config"})
	c.wants([]string{"--get_host_info"}, `#CPUS: 2`)
	c.wants([]string{"--read_global_prefs_override"})
	c.wants([]string{"--set_host_info", "a phone"})

	// Unknown names.
	for _, args := range [][]string{
		{"--task", p.URL, "nothing_0", "abort"},
		{"--task", "http://127.0.0.1:1/none/", task, "abort"},
		{"--project", "http://127.0.0.1:1/none/", "update"},
		{"--file_transfer", p.URL, "nothing", "abort"},
	} {
		if out, code := c.run(args...); code == 0 {
			t.Errorf("boinccmd %v succeeded: %s", args, out)
		}
	}
	if out, _ := c.run("--passwd", "wrong", "--set_run_mode", "never"); !strings.Contains(out, "Authorization failure") {
		t.Errorf("with a wrong password: %s", out)
	}

	c.wants([]string{"--task", p.URL, task, "abort"})
	c.until([]string{"--get_old_tasks"}, task)
	gone := func(s control.Status) bool { return len(s.Projects) == 0 }
	c.wants([]string{"--project", p.URL, "detach_when_done"})
	await(t, ctx, a, "the project to be done and gone", gone)
	c.wants([]string{"--project_attach", p.URL, p.Key})
	c.wants([]string{"--project", p.URL, "reset"})
	c.wants([]string{"--project", p.URL, "detach"})
	await(t, ctx, a, "the project to be gone", gone)
	if left, err := os.ReadDir(filepath.Join(a.Dir, "accounts")); err != nil || len(left) != 0 {
		t.Errorf("accounts left: %v, %v", left, err)
	}
	c.wants([]string{"--quit"})
	select {
	case <-a.Process().Done():
	case <-ctx.Done():
		t.Fatal("the agent did not end")
	}
}
