package e2e_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/starling-grid/starling/agent/control"
)

// TestExportToBOINC moves from the agent to BOINC's client, which then computes for the same
// account with the same preferences and settings.
func TestExportToBOINC(t *testing.T) {
	t.Parallel()
	ctx := patience(t)
	p := newProject(t, ctx)
	serve(t, ctx, p)
	a := newAgent(t, "a")
	startAgent(t, ctx, a, p)
	await(t, ctx, a, "the first contact", func(s control.Status) bool { return len(s.Projects) == 1 && s.Projects[0].HostID != 0 })
	dir := filepath.Join(t.TempDir(), "boinc")
	if _, err := a.Run(ctx, "export", dir); err == nil || !strings.Contains(err.Error(), "an agent is running") {
		t.Errorf("with the agent running: %v", err)
	}
	must(t, a.Stop())
	before := contents(t, a.Dir)
	out, err := a.Run(ctx, "export", dir)
	if err != nil || !strings.Contains(out, "account_") || !strings.Contains(out, "global_prefs_override.xml") || !strings.Contains(out, "cc_config.xml") {
		t.Fatalf("%v: %s", err, out)
	}
	if after := contents(t, a.Dir); len(after) != len(before) {
		t.Error("the export changed the agent's folder")
	}
	if _, err := a.Run(ctx, "export", dir); err == nil || !strings.Contains(err.Error(), "nothing was exported") {
		t.Errorf("a second export: %v", err)
	}
	work(t, ctx, p, 1, 4423)
	must(t, p.AwaitResults(ctx))
	c := startBOINCIn(t, ctx, dir)
	if _, err := a.Run(ctx, "export", dir); err == nil || !strings.Contains(err.Error(), "BOINC's client is running") {
		t.Errorf("with BOINC's client running: %v", err)
	}
	creditedOnce(t, ctx, p, 1, 4423)
	if s := c.ask(ctx, "--get_project_status"); !strings.Contains(s, "master URL: "+p.URL) || !strings.Contains(s, "user_name: ada") {
		t.Errorf("attached to %s", s)
	}
	if s := c.ask(ctx, "--get_messages"); !strings.Contains(s, "preferences override file") || !strings.Contains(s, "Config: don't use coprocessors") {
		t.Errorf("the preferences and settings were not read: %s", s)
	}
	b, err := os.ReadFile(filepath.Join(dir, "global_prefs_override.xml"))
	if err != nil || !strings.Contains(string(b), "<run_on_batteries>1</run_on_batteries>") || !strings.Contains(string(b), "<disk_interval>1.000000</disk_interval>") {
		t.Errorf("preferences %s, %v", b, err)
	}
}
