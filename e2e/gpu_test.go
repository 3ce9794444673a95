package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/starling-grid/starling/internal/testhost"
)

// declared is a cc_config.xml that declares two coprocessors. They do not have to exist.
const declared = `<cc_config>
<log_flags><sched_op_debug>1</sched_op_debug><coproc_debug>1</coproc_debug></log_flags>
<options>
<allow_multiple_clients>1</allow_multiple_clients><dont_contact_ref_site>1</dont_contact_ref_site>
<skip_cpu_benchmarks>1</skip_cpu_benchmarks><report_results_immediately>1</report_results_immediately><ncpus>1</ncpus>
<coproc><type>fake</type><count>2</count><peak_flops>1e10</peak_flops><device_nums>0 1</device_nums></coproc>
</options>
</cc_config>
`

// planSpec contains the plan class in the format of BOINC's server.
const planSpec = `<plan_classes>
  <plan_class>
    <name>       faked  </name>
    <gpu_type>   fake   </gpu_type>
    <cpu_frac>   .05    </cpu_frac>
    <ngpus>      1      </ngpus>
  </plan_class>
  <plan_class>
    <name>       radeon </name>
    <gpu_type>   amd    </gpu_type>
  </plan_class>
</plan_classes>
`

// reporter prints the device that it was given.
const reporter = `#!/bin/sh
sleep 1
{ echo "$1"; for key in device_num usage; do sed -n "s|.*<gpu_$key>\\(.*\\)</gpu_$key>.*|\\1|p" init_data.xml; done; } >out
`

// TestCoprocessors checks that a computer with two declared coprocessors gets tasks for them, and
// one for its CPU, and computes them all: with our agent, with an unmodified BOINC client, and with
// an agent that takes over from one.
func TestCoprocessors(t *testing.T) {
	t.Parallel()
	for host, start := range map[string]func(t *testing.T, ctx context.Context, p *testhost.Project){
		"agent": func(t *testing.T, ctx context.Context, p *testhost.Project) {
			t.Helper()
			a := configured(t, "a", "",
				"ncpus = 1\n[[coproc]]\ntype = \"fake\"\ncount = 2\npeak_flops = 1e10\n")
			startAgent(t, ctx, a, p)
		},
		"BOINC's client": func(t *testing.T, ctx context.Context, p *testhost.Project) {
			t.Helper()
			dir := t.TempDir()
			must(t, os.WriteFile(filepath.Join(dir, "cc_config.xml"), []byte(declared), 0o600))
			startBOINCIn(t, ctx, dir).do(ctx, "--project_attach", p.URL, p.Key)
		},
		"agent after BOINC's client": moveWithCoprocessors,
	} {
		t.Run(host, func(t *testing.T) {
			t.Parallel()
			ctx := patience(t)
			p := newProject(t, ctx)
			onCoprocessors(t, ctx, p, func() { start(t, ctx, p) })
		})
	}
}

// moveWithCoprocessors makes BOINC's client fetch tasks, and an agent import them with the
// coprocessors that the client's configuration declares.
func moveWithCoprocessors(t *testing.T, ctx context.Context, p *testhost.Project) {
	t.Helper()
	dir := t.TempDir()
	config := strings.Replace(declared, "<ncpus>", "<start_delay>100000</start_delay><ncpus>", 1) // it fetches, but does not compute
	must(t, os.WriteFile(filepath.Join(dir, "cc_config.xml"), []byte(config), 0o600))
	c := startBOINCIn(t, ctx, dir)
	c.do(ctx, "--project_attach", p.URL, p.Key)
	c.until(ctx, "a task for a coprocessor", func(s string) bool {
		return strings.Contains(s, "WU name: device_") && strings.Count(s, "state: downloaded") == strings.Count(s, "WU name: ")
	})
	must(t, c.proc.Stop(testhost.Grace))
	a := configured(t, "a", "", "")
	name := filepath.Join(a.Dir, "starling.toml")
	usual, err := os.ReadFile(name)
	must(t, err)
	if err := os.Remove(name); err != nil { // the import makes one
		t.Fatal(err)
	}
	if out, err := a.Run(ctx, "import", dir); err != nil || !strings.Contains(out, "computer 1, ") {
		t.Fatalf("import: %v: %s", err, out)
	}
	text, err := os.ReadFile(name)
	if err != nil || !strings.Contains(string(text), "[[coproc]]\n") {
		t.Fatalf("settings %s, %v", text, err)
	}
	ports := strings.ReplaceAll(string(usual), "allow_multiple_clients = true\n", "") // the import has that
	must(t, os.WriteFile(name, append([]byte(ports), text...), 0o600))
	must(t, a.Start())
}

// onCoprocessors starts a computer and checks that it computes on its coprocessors.
func onCoprocessors(t *testing.T, ctx context.Context, p *testhost.Project, start func()) {
	t.Helper()
	planClasses(t, p, planSpec)
	// init_data.xml names the device, and its kind only if it belongs to a known vendor. A task
	// takes a second, so that both devices can be busy at the same time.
	program := written(t, "device", reporter)
	publish(t, ctx, p, "device", "--plan-class", "faked", "--main", program, "--plain")
	const tasks = 4
	for n := range tasks {
		in := written(t, "in", "-\n")
		job(t, ctx, p, "device", fmt.Sprintf("device_%d", n), "--input", in+"=in", "--cmdline", "--run")
	}
	work(t, ctx, p, 1, 2203)
	serve(t, ctx, p)

	start()
	c, err := p.AwaitDone(ctx)
	must(t, err)
	if c.Workunits.Canonical != tasks+1 || c.Results.Granted != tasks+1 {
		t.Errorf("%+v, %+v; want %d workunits with credit", c.Workunits, c.Results, tasks+1)
	}
	used := make(map[string]bool)
	for n := range tasks {
		b, err := p.Outcome(ctx, fmt.Sprintf("device_%d", n), "out")
		m := regexp.MustCompile(`^--run\n([01])\n1[.]0+\n$`).FindStringSubmatch(string(b))
		if err != nil || m == nil {
			t.Errorf("the task says %q, %v", b, err)
			continue
		}
		used[m[1]] = true
	}
	if len(used) != 2 {
		t.Errorf("devices %v were used, want both", used)
	}
	checkHost(t, run(t, ctx, p, "host", "show", p.Dir, "1", "--json"), tasks)
}

// checkHost checks a project's display of a computer with coprocessors.
func checkHost(t *testing.T, show string, tasks int) {
	t.Helper()
	var h struct {
		Coprocs []struct {
			Type  string
			Count int
		}
		Versions []struct {
			PlanClass string `json:"plan_class"`
			Valid     int    `json:"turnaround_n"`
		} `json:"app_versions"`
	}
	if err := json.Unmarshal([]byte(show), &h); err != nil {
		t.Fatalf("%v: %s", err, show)
	}
	if len(h.Coprocs) != 1 || h.Coprocs[0].Type != "fake" || h.Coprocs[0].Count != 2 {
		t.Errorf("coprocessors %+v", h.Coprocs)
	}
	valid := make(map[string]int)
	for _, v := range h.Versions {
		valid[v.PlanClass] += v.Valid
	}
	if valid["faked"] != tasks || valid[""] != 1 {
		t.Errorf("valid results by plan class: %v, want %d of faked and one of none", valid, tasks)
	}
}
