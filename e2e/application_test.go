package e2e_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/internal/logflag"
	"github.com/starling-grid/starling/internal/testapp"
	"github.com/starling-grid/starling/internal/testhost"
	"github.com/starling-grid/starling/internal/testwait"
)

// addApp adds an application, and a workunit of it.
func addApp(t *testing.T, ctx context.Context, p *testhost.Project, app, main string, work ...string) {
	t.Helper()
	in := written(t, "in_"+app, "hello")
	publish(t, ctx, p, app, "--main", main, "--cmdline", app)
	job(t, ctx, p, app, "wu_"+app, append([]string{
		"--input", in + "=in", "--target-nresults", "1", "--min-quorum", "1", "--max-error", "1", "--max-total", "1", "--max-success", "1",
	}, work...)...)
}

// TestBOINCApplications runs applications that are linked with BOINC's runtime through server and
// agent. One exchanges messages with its project, others break a limit, crash or are not even
// programs, and the report of each is correct.
func TestBOINCApplications(t *testing.T) {
	t.Parallel()
	exe, err := testapp.Build()
	if err != nil {
		t.Skip(err)
	}
	ctx := patience(t)
	p := newProject(t, ctx)
	text := filepath.Join(t.TempDir(), "text")
	must(t, os.WriteFile(text, []byte("this is no program\x00"), 0o600))
	// The name of each is also the argument that selects its behavior.
	addApp(t, ctx, p, "trickle", exe, "--rsc-fpops-bound", "1e15")
	addApp(t, ctx, p, "chatter", exe, "--rsc-fpops-bound", "1e15", "--rsc-disk-bound", "5e6")
	addApp(t, ctx, p, "abort", exe, "--rsc-fpops-bound", "1e15")
	addApp(t, ctx, p, "upload", exe, "--rsc-fpops-bound", "1e15")
	workWith(t, ctx, p, 1, slowly(2*time.Millisecond), 2203) // writes checkpoints
	addApp(t, ctx, p, "none", text, "--rsc-fpops-bound", "1e15")
	addApp(t, ctx, p, "upper", exe, "--rsc-fpops-bound", "1e15")
	serve(t, ctx, p)
	a := configured(t, "a", "disk_interval = 1\n", "ncpus = 7\nreport_results_immediately = true\n"+allFlags())
	startAgent(t, ctx, a, p)
	until(t, ctx, a, "the message to arrive", func() bool {
		var list []struct{ Result, Variety, Text string }
		must(t, json.Unmarshal([]byte(run(t, ctx, p, "trickle", "list", p.Dir, "--json")), &list))
		return len(list) == 1 && list[0].Result == "wu_trickle_0" && list[0].Variety == "demo" && strings.Contains(list[0].Text, "<steps>12</steps>")
	})
	run(t, ctx, p, "trickle", "send", p.Dir, "wu_trickle_0", "--text", "<go_on/>")
	if _, err := a.Run(ctx, "update", p.URL); err != nil {
		t.Fatal(err)
	}
	if b, err := p.Outcome(ctx, "wu_trickle", "out"); err != nil || strings.TrimSpace(string(b)) != "<go_on/>" {
		t.Errorf("the answer became %q, %v", b, err)
	}
	await(t, ctx, a, "all to be reported", func(s control.Status) bool { return len(s.Projects) == 1 && len(s.Tasks) == 0 })
	// wu_upload ends only when it has been notified that its file was sent.
	for wu, want := range map[string]string{"wu_upper": "HELLO", "wu_upload": "early"} {
		if b, err := p.Outcome(ctx, wu, "out"); err != nil || string(b) != want {
			t.Errorf("%s: outcome %q, %v", wu, b, err)
		}
	}
	logs, _ := filepath.Glob(filepath.Join(a.Dir, "job_log_*.txt"))
	if len(logs) != 1 {
		t.Fatalf("job logs: %v", logs)
	}
	jobs, _ := os.ReadFile(logs[0])
	for _, want := range []string{`nm wu_trickle_0 et \d+\.\d{6} es 0`, `nm wu_chatter_0 et \d+\.\d{6} es 196`, `nm wu_abort_0 et \d+\.\d{6} es 193`} {
		if !regexp.MustCompile(`(?m)^\d{10} ue \d+\.\d{6} ct \d+\.\d{6} fe 10000000000 ` + want + "$").Match(jobs) {
			t.Errorf("job log has no %s:\n%s", want, jobs)
		}
	}
	log, _ := os.ReadFile(a.Log())
	for _, want := range []string{"not a program for this kind of computer", "exceeded disk limit: ", "application requested an upload"} {
		if !strings.Contains(string(log), want) {
			t.Errorf("the log does not say %q", want)
		}
	}
	for _, flag := range logflag.Names {
		if flag == logflag.SchedDecision || flag == logflag.GUIRPC { // see below, and TestManager
			continue
		}
		if !regexp.MustCompile(` ` + logflag.Key + `=` + flag + `\s`).Match(log) {
			t.Errorf("the log flag %s has no effect", flag)
		}
	}
	if _, err := os.Stat(filepath.Join(a.Dir, "decisions.jsonl")); err != nil {
		t.Errorf("the log flag sched_decision has no effect: %v", err)
	}
	until(t, ctx, a, "slots and messages to be removed", func() bool {
		left, _ := filepath.Glob(filepath.Join(a.Dir, "slots", "*"))
		more, _ := filepath.Glob(filepath.Join(a.Dir, "projects", "*", "trickle_up_*"))
		return len(left)+len(more) == 0
	})
}

// allFlags returns settings that switch on all kinds of lines in the log.
func allFlags() string {
	text := "[log_flags]\n"
	for _, flag := range logflag.Names {
		text += flag + " = true\n"
	}
	return text
}

// until waits for a condition, while the agent runs.
func until(t *testing.T, ctx context.Context, a *testhost.Agent, what string, ok func() bool) {
	t.Helper()
	testwait.Try(t, ctx, what, func() error {
		if ok() {
			return nil
		}
		select {
		case <-a.Process().Done():
			t.Fatalf("the agent ended while waiting for %s", what)
		default:
		}
		return errors.New("not yet")
	})
}
