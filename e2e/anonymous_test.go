package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/internal/testhost"
	"github.com/starling-grid/starling/protocol"
)

// ownProgram puts a program for the Mersenne application into the folder of a project, with the
// app_info.xml that describes it. The results show by its name that this program computed them.
func ownProgram(t *testing.T, folder string) {
	t.Helper()
	must(t, os.MkdirAll(folder, 0o750))
	b, err := os.ReadFile(bin.Path(testhost.Mersenne))
	must(t, err)
	must(t, os.WriteFile(filepath.Join(folder, "my_mersenne"), b, 0o700))
	info := `<app_info>
  <app><name>mersenne</name><user_friendly_name>My Mersenne</user_friendly_name></app>
  <file_info><name>my_mersenne</name><executable/></file_info>
  <app_version>
    <app_name>mersenne</app_name>
    <version_num>777</version_num>
    <plan_class>mine</plan_class>
    <file_ref><file_name>my_mersenne</file_name><main_program/></file_ref>
  </app_version>
</app_info>
`
	must(t, os.WriteFile(filepath.Join(folder, "app_info.xml"), []byte(info), 0o600))
}

// computedByOwn checks that results were computed by the volunteer's program.
func computedByOwn(t *testing.T, ctx context.Context, p *testhost.Project, exponents ...int) {
	t.Helper()
	for _, e := range exponents {
		var r struct {
			VersionID  int64  `json:"app_version_id"`
			VersionNum int    `json:"app_version_num"`
			Anonymous  bool   `json:"anonymous_platform"`
			Platform   string `json:"platform"`
		}
		out := run(t, ctx, p, "result", "show", p.Dir, fmt.Sprintf("m%d_0", e), "--json")
		must(t, json.Unmarshal([]byte(out), &r))
		if !r.Anonymous || r.VersionID >= 0 || r.VersionNum != 777 || r.Platform != "anonymous" {
			t.Errorf("m%d was computed by %+v, want the volunteer's own program", e, r)
		}
	}
}

// boincWithItsOwn makes a data directory for BOINC's client, attached to a project for which its
// volunteer has a program.
func boincWithItsOwn(t *testing.T, p *testhost.Project) (dir string) {
	t.Helper()
	dir = t.TempDir()
	name := protocol.EscapeURL(p.URL)
	account := fmt.Sprintf("<account>\n<master_url>%s</master_url>\n<authenticator>%s</authenticator>\n</account>\n", p.URL, p.Key)
	must(t, os.WriteFile(filepath.Join(dir, "account_"+name+".xml"), []byte(account), 0o600))
	ownProgram(t, filepath.Join(dir, "projects", name))
	return dir
}

// TestBOINCClientWithItsOwnProgram makes an unmodified BOINC client compute with a program that its
// volunteer built: the server sends it tasks but no program.
func TestBOINCClientWithItsOwnProgram(t *testing.T) {
	t.Parallel()
	ctx := patience(t)
	p := newProject(t, ctx)
	exponents := []int{2203, 4423}
	work(t, ctx, p, 1, exponents...)
	serve(t, ctx, p)
	dir := boincWithItsOwn(t, p)
	folder := filepath.Join(dir, "projects", protocol.EscapeURL(p.URL))
	startBOINCIn(t, ctx, dir)
	creditedOnce(t, ctx, p, 1, exponents...)
	computedByOwn(t, ctx, p, exponents...)
	if host := run(t, ctx, p, "host", "show", p.Dir, "1", "--json"); !strings.Contains(host, `"platform": "anonymous"`) || !strings.Contains(host, `"app": "mersenne"`) {
		t.Errorf("the computer has earned nothing with its own program: %s", host)
	}
	files, err := os.ReadDir(folder)
	must(t, err)
	for _, f := range files {
		if strings.HasPrefix(f.Name(), "mersenne") {
			t.Errorf("%s was downloaded beside the volunteer's own program", f.Name())
		}
	}
}

// TestAgentWithItsOwnProgram does the same with the agent, sandboxed by default.
func TestAgentWithItsOwnProgram(t *testing.T) {
	t.Parallel()
	ctx := patience(t)
	p := newProject(t, ctx)
	exponents := []int{2281, 3217}
	work(t, ctx, p, 1, exponents...)
	serve(t, ctx, p)
	a := newAgent(t, "a")
	folder := filepath.Join(a.Dir, "projects", protocol.EscapeURL(p.URL))
	ownProgram(t, folder)
	before := contents(t, folder)
	startAgent(t, ctx, a, p)
	creditedOnce(t, ctx, p, 1, exponents...)
	computedByOwn(t, ctx, p, exponents...)
	out, err := a.Run(ctx, "status")
	if err != nil || !strings.Contains(out, "mersenne 7.77 (mine)") || !strings.Contains(out, "app_info.xml") {
		t.Errorf("status does not say whose program computes: %s, %v", out, err)
	}
	if _, err := a.Run(ctx, "detach", p.URL, "--now"); err != nil {
		t.Fatal(err)
	}
	await(t, ctx, a, "the project to be detached", func(s control.Status) bool { return len(s.Projects) == 0 })
	after := contents(t, folder)
	for name, sum := range before {
		if after[name] != sum {
			t.Errorf("%s was changed or removed", name)
		}
	}
}

// TestImportOfOwnProgram moves a task that a volunteer's own program computes from BOINC's client
// to the agent. The same program continues it.
func TestImportOfOwnProgram(t *testing.T) {
	t.Parallel()
	ctx := patience(t)
	p := newProject(t, ctx)
	workWith(t, ctx, p, 1, slowly(5*time.Millisecond), 2203)
	serve(t, ctx, p)
	dir := boincWithItsOwn(t, p)
	must(t, os.WriteFile(filepath.Join(dir, "global_prefs_override.xml"), []byte("<global_preferences><run_if_user_active>1</run_if_user_active><suspend_cpu_usage>0</suspend_cpu_usage><run_on_batteries>1</run_on_batteries><disk_interval>1</disk_interval><max_ncpus_pct>100</max_ncpus_pct></global_preferences>\n"), 0o600))
	c := startBOINCIn(t, ctx, dir)
	c.until(ctx, "a checkpoint", func(string) bool {
		_, err := os.Stat(filepath.Join(dir, "slots/0/checkpoint"))
		return err == nil
	})
	must(t, c.proc.Stop(testhost.Grace))
	a := newAgent(t, "a")
	out, err := a.Run(ctx, "import", dir)
	if err != nil || !strings.Contains(out, "1 task (1 started, 0 finished)") {
		t.Fatalf("import: %s, %v", out, err)
	}
	must(t, a.Start())
	creditedOnce(t, ctx, p, 1, 2203)
	computedByOwn(t, ctx, p, 2203)
	log, err := os.ReadFile(a.Log())
	must(t, err)
	if !strings.Contains(string(log), "resumed=true") && !strings.Contains(string(log), "result had already finished") {
		t.Error("the task did not resume")
	}
}
