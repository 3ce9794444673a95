package e2e_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/starling-grid/starling/internal/opencl"
	"github.com/starling-grid/starling/internal/testhost"
)

// openCLSpec contains plan classes for a coprocessor that the volunteer of this test has named, and
// for CPUs that OpenCL offers.
const openCLSpec = `<plan_classes>
  <plan_class>
    <name> opencl_any </name>
    <gpu_type> pocl </gpu_type>
    <opencl> 1 </opencl>
    <min_opencl_version> 102 </min_opencl_version>
    <min_gpu_ram_mb> 64 </min_gpu_ram_mb>
    <double_precision_fp> 1 </double_precision_fp>
  </plan_class>
  <plan_class>
    <name> opencl_cpu </name>
    <opencl> 1 </opencl>
    <min_opencl_version> 102 </min_opencl_version>
    <double_precision_fp> 1 </double_precision_fp>
  </plan_class>
</plan_classes>
`

// pocl returns PoCL's device on this computer. It skips the test if there is none.
func pocl(t *testing.T) string {
	t.Helper()
	lib, err := opencl.Open()
	if err != nil {
		t.Skipf("no OpenCL here: %v", err)
	}
	platforms, err := lib.Platforms()
	if err != nil {
		t.Skipf("no OpenCL here: %v", err)
	}
	for _, p := range platforms {
		devices, _ := p.Devices(opencl.CPU)
		for _, d := range devices {
			if p.Name == "Portable Computing Language" {
				return d.Text(opencl.Name)
			}
		}
	}
	t.Skip("PoCL is not installed")
	return ""
}

// An openCLCase is a way to make an agent compute with OpenCL.
type openCLCase struct {
	class, settings, cmdline string
	says                     map[string]string // expected output by command of the agent, where %s is the device
}

// TestOpenCL makes an agent find a device by OpenCL, report all its properties to the project, get
// tasks for which the project requires OpenCL, and compute them on it in the sandbox: on a device
// that the volunteer declares, and on the CPUs themselves.
func TestOpenCL(t *testing.T) {
	t.Parallel()
	device := pocl(t)
	for name, c := range map[string]openCLCase{
		"a declared device": {
			"opencl_any", "no_gpus = true\n[[coproc]]\ntype = \"pocl\"\nopencl = \"pthread\"\n", "",
			map[string]string{"status": "1 pocl (%s)", "doctor": "1 pocl (%s), found by OpenCL, driver ", "history --json": "computing on %s"},
		},
		"the CPUs": {
			"opencl_cpu", "no_gpus = false\n", "--device 0",
			map[string]string{"doctor": "OpenCL also offers 1 CPU (%s)", "history --json": "computing on %s"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			computeByOpenCL(t, device, c)
		})
	}
}

func computeByOpenCL(t *testing.T, device string, how openCLCase) {
	t.Helper()
	ctx := patience(t)
	p := newProject(t, ctx)
	planClasses(t, p, openCLSpec)
	publish(t, ctx, p, "collatz", "--plan-class", how.class, "--main", bin.Path(testhost.Collatz))
	const tasks = 2
	for n := range tasks {
		in := filepath.Join(t.TempDir(), "in")
		must(t, os.WriteFile(in, fmt.Appendf(nil, "%d 1000000\n", 1+n*1_000_000), 0o600))
		job(t, ctx, p, "collatz", fmt.Sprintf("collatz_%d", n), "--input", in+"=in", "--cmdline", how.cmdline)
	}
	serve(t, ctx, p)

	a := configured(t, "a", "",
		"ncpus = 1\n"+how.settings)
	startAgent(t, ctx, a, p)
	c, err := p.AwaitDone(ctx)
	must(t, err)
	if c.Workunits.Canonical != tasks || c.Results.Granted != tasks {
		t.Errorf("%+v, %+v; want %d workunits with credit", c.Workunits, c.Results, tasks)
	}
	for n, want := range []string{
		"numbers 1 to 1000000\nlongest 837799 with 524 steps\ntotal 131434424 steps\n",
		"numbers 1000001 to 2000000\nlongest 1723519 with 556 steps\n",
	} {
		got, err := p.Outcome(ctx, fmt.Sprintf("collatz_%d", n), "out")
		if err != nil || !strings.HasPrefix(string(got), want) {
			t.Errorf("task %d: %q, %v; want %q", n, got, err, want)
		}
	}
	for args, format := range how.says {
		want := strings.Replace(format, "%s", device, 1)
		if out, _ := a.Run(ctx, strings.Fields(args)...); !strings.Contains(out, want) { // doctor may find other problems
			t.Errorf("starling %s: no %q in\n%s", args, want, out)
		}
	}
	if how.class == "opencl_cpu" {
		return
	}
	if show := run(t, ctx, p, "host", "show", p.Dir, "1", "--json"); !strings.Contains(show, `"pocl"`) {
		t.Errorf("the project knows of no device: %s", show)
	}
}
