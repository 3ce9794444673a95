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

	"github.com/starling-grid/starling/internal/testhost"
	"github.com/starling-grid/starling/internal/testwait"
)

// A boincClient is BOINC's own client in a scratch folder.
type boincClient struct {
	t    *testing.T
	dir  string
	port int
	proc *testhost.Process
}

// Settings of BOINC's client in tests. The package's defaults suspend computing on a busy machine.
const (
	boincSettings    = "<cc_config><log_flags><sched_op_debug>1</sched_op_debug><file_xfer_debug>1</file_xfer_debug></log_flags><options><allow_multiple_clients>1</allow_multiple_clients><dont_contact_ref_site>1</dont_contact_ref_site><no_gpus>1</no_gpus><skip_cpu_benchmarks>1</skip_cpu_benchmarks><report_results_immediately>1</report_results_immediately><ncpus>1</ncpus></options></cc_config>\n"
	boincPreferences = "<global_preferences><run_if_user_active>1</run_if_user_active><run_gpu_if_user_active>1</run_gpu_if_user_active><run_on_batteries>1</run_on_batteries><suspend_cpu_usage>0</suspend_cpu_usage><max_ncpus_pct>100</max_ncpus_pct></global_preferences>\n"
)

// startBOINC starts the client of the system's package in a new folder.
func startBOINC(t *testing.T, ctx context.Context) *boincClient {
	t.Helper()
	return startBOINCIn(t, ctx, t.TempDir())
}

// startBOINCIn starts the client in a folder, whose files it uses as they are.
func startBOINCIn(t *testing.T, ctx context.Context, dir string) *boincClient {
	t.Helper()
	for _, program := range []string{"boinc", "boinccmd"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is not installed (Debian: boinc-client); BOINC's own client is NOT tested", program)
		}
	}
	port, err := testhost.FreePort()
	must(t, err)
	c := &boincClient{t: t, dir: dir, port: port}
	files := map[string]string{
		"gui_rpc_auth.cfg":          "secret\n",
		"cc_config.xml":             boincSettings,
		"global_prefs_override.xml": boincPreferences,
	}
	for name, text := range files {
		if _, err := os.Stat(filepath.Join(c.dir, name)); err == nil {
			continue
		}
		must(t, os.WriteFile(filepath.Join(c.dir, name), []byte(text), 0o600))
	}
	log := filepath.Join(t.TempDir(), "boinc.log")
	c.proc, err = testhost.Start(log, "boinc", "--dir", c.dir, "--gui_rpc_port", fmt.Sprint(port), "--allow_multiple_clients")
	must(t, err)
	t.Cleanup(func() {
		_ = c.proc.Stop(20 * time.Second)
		showLog(t, log)
	})
	testwait.Try(t, ctx, "BOINC's client to answer", func() error {
		select {
		case <-c.proc.Done():
			t.Fatal("BOINC's client ended at once")
		default:
		}
		return c.try(ctx, "--get_state")
	})
	return c
}

func (c *boincClient) try(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, "boinccmd", append([]string{"--host", fmt.Sprintf("127.0.0.1:%d", c.port), "--passwd", "secret"}, args...)...)
	cmd.Dir = c.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("boinccmd %s: %w: %s", strings.Join(args, " "), err, out)
	}
	return nil
}

func (c *boincClient) do(ctx context.Context, args ...string) {
	c.t.Helper()
	if err := c.try(ctx, args...); err != nil {
		c.t.Fatal(err)
	}
}

// TestBOINCClient makes an unmodified BOINC client work for the server: it looks up the account,
// attaches, and computes several workunits of an application in Go and of a program without BOINC's
// interface.
func TestBOINCClient(t *testing.T) {
	t.Parallel()
	ctx := patience(t)
	p := newProject(t, ctx)
	exponents := []int{2203, 4423, 9689}
	work(t, ctx, p, 1, exponents...)
	serve(t, ctx, p)
	c := startBOINC(t, ctx)
	c.do(ctx, "--get_project_config", p.URL)
	c.do(ctx, "--lookup_account", p.URL, testhost.Email, testhost.Password)
	c.do(ctx, "--project_attach", p.URL, p.Key)
	creditedOnce(t, ctx, p, 1, exponents...)
}

// TestBOINCClientAndAgentAgree computes each workunit on BOINC's client and on our agent. The
// validator compares their outputs bit by bit.
func TestBOINCClientAndAgentAgree(t *testing.T) {
	t.Parallel()
	ctx := patience(t)
	p := newProject(t, ctx)
	exponents := []int{2281, 9941}
	work(t, ctx, p, 2, exponents...)
	serve(t, ctx, p)
	c := startBOINC(t, ctx)
	c.do(ctx, "--project_attach", p.URL, p.Key)
	startAgent(t, ctx, newAgent(t, "a"), p)
	creditedOnce(t, ctx, p, 2, exponents...)
}

// TestPlainProgram runs a program without BOINC's interface, in its wrapper, on BOINC's client and
// on our agent.
func TestPlainProgram(t *testing.T) {
	t.Parallel()
	for _, host := range []string{"agent", "BOINC's client"} {
		t.Run(host, func(t *testing.T) {
			t.Parallel()
			ctx := patience(t)
			p := newProject(t, ctx)
			program := written(t, "shout", "#!/bin/sh\ntr a-z A-Z <in >out && echo \"$1\" >>out\n")
			publish(t, ctx, p, "shout", "--main", program, "--plain")
			for n := range 2 {
				in := written(t, fmt.Sprintf("text_%d", n), "hello\n")
				job(t, ctx, p, "shout", fmt.Sprintf("shout_%d", n), "--input", in+"=in", "--cmdline", "'two words'")
			}
			serve(t, ctx, p)
			if host == "agent" {
				startAgent(t, ctx, newAgent(t, "a"), p)
			} else {
				startBOINC(t, ctx).do(ctx, "--project_attach", p.URL, p.Key)
			}
			if _, err := p.AwaitDone(ctx); err != nil {
				t.Fatal(err)
			}
			for n := range 2 {
				b, err := p.Outcome(ctx, fmt.Sprintf("shout_%d", n), "out")
				if want := "HELLO\ntwo words\n"; err != nil || string(b) != want {
					t.Errorf("the outcome is %q, %v; want %q", b, err, want)
				}
			}
		})
	}
}
