package project_test

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/starling-grid/starling/server/match"
	"github.com/starling-grid/starling/server/project"
)

// spec is written as projects write theirs: values in columns, flags with and without a
// value, a class for virtual machines.
const spec = `<?xml version="1.0"?>
<plan_classes>
  <!-- since 2019 -->
  <plan_class>
    <name>                 cuda102   </name>
    <gpu_type>             nvidia    </gpu_type>
    <cuda/>
    <min_cuda_version>     10020     </min_cuda_version>
    <min_driver_version>   44000     </min_driver_version>
    <min_cuda_compcap>     305       </min_cuda_compcap>
    <max_nvidia_compcap>   899       </max_nvidia_compcap>
    <min_gpu_ram_mb>       1500      </min_gpu_ram_mb>
    <gpu_ram_used_mb>      1200      </gpu_ram_used_mb>
    <gpu_peak_flops_scale> .25       </gpu_peak_flops_scale>
    <cpu_frac>             .02       </cpu_frac>
    <ngpus>                0.5       </ngpus>
  </plan_class>
  <plan_class>
    <name>opencl_ati_102</name><gpu_type>ati</gpu_type><opencl>1</opencl>
    <min_opencl_version>102</min_opencl_version><double_precision_fp/><cal>0</cal>
    <min_core_client_version>71400</min_core_client_version>
  </plan_class>
  <plan_class>
    <name>mt</name><min_ncpus>2</min_ncpus><max_threads>16</max_threads><nthreads_cmdline>1</nthreads_cmdline>
    <cpu_feature>avx2</cpu_feature><cpu_feature>fma</cpu_feature><projected_flops_scale>1.1</projected_flops_scale>
  </plan_class>
  <plan_class>
    <name>vbox64</name><virtualbox/><is64bit/><vm_accel_required>1</vm_accel_required><min_vbox_version>60100</min_vbox_version>
    <exclude_vbox_version>60102</exclude_vbox_version><exclude_vbox_version>70000</exclude_vbox_version>
  </plan_class>
  <plan_class><name>docker</name><docker/></plan_class>
  <plan_class><name>wsl</name><wsl/></plan_class>
</plan_classes>
`

var specClasses = map[string]match.PlanClass{
	"cuda102": {GPU: match.GPU{
		GPUType: "nvidia", CUDA: true, MinCUDAVersion: 10020, MinDriverVersion: 44000, MinNVIDIACompcap: 305, MaxNVIDIACompcap: 899,
		MinGPURAMMB: 1500, GPURAMUsedMB: 1200, GPUPeakFlopsScale: 0.25, CPUFrac: 0.02, NGPUs: 0.5,
	}},
	"opencl_ati_102": {MinCoreVersion: 71400, GPU: match.GPU{GPUType: "ati", OpenCL: true, MinOpenCLVersion: 102, DoublePrecisionFP: true}},
	"mt":             {MinNCPUs: 2, MaxThreads: 16, NThreadsCmdline: true, CPUFeature: []string{"avx2", "fma"}, ProjectedFlopsScale: 1.1},
	"vbox64": {Virtual: match.Virtual{
		VirtualBox: true, Is64bit: true, VMAccelRequired: true, MinVBoxVersion: 60100, ExcludeVBoxVersion: []int{60102, 70000},
	}},
	"docker": {Virtual: match.Virtual{Docker: true}},
	"wsl":    {Unsupported: []string{"wsl"}},
}

func TestPlanSpec(t *testing.T) {
	got, err := project.ParsePlanSpec([]byte(spec))
	if err != nil || !reflect.DeepEqual(got, specClasses) {
		t.Errorf("got %+v, %v\nwant %+v", got, err, specClasses)
	}
}

func TestPlanSpecSaysWhatIsWrong(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       []string
	}{
		{"another file", "<app_info></app_info>", []string{"plan_classes"}},
		{"a key that nobody knows", "<plan_classes><plan_class><name>a</name><min_gpu_memory>9</min_gpu_memory></plan_class></plan_classes>", []string{"plan class a: min_gpu_memory: unknown key"}},
		{"several faults", "<plan_classes><plan_class><name>a</name><ngpus>many</ngpus><max_threads>1.5</max_threads></plan_class><plan_class/></plan_classes>", []string{
			`plan class a: ngpus: "many" is not a number`, "plan class a: max_threads: 1.5 is not a whole number", "plan class number 2: name",
		}},
		{"a value out of range", "<plan_classes><plan_class><name>a</name><gpu_type>x</gpu_type><ngpus>-1</ngpus></plan_class></plan_classes>", []string{"plan class a: ngpus: is negative, so gpu_ram_used_mb"}},
		{"no regular expression", "<plan_classes><plan_class><name>a</name><os_regex>(</os_regex></plan_class></plan_classes>", []string{"plan class a: os_regex: error parsing regexp"}},
		{"twice", "<plan_classes><plan_class><name>a</name></plan_class><plan_class><name>a</name></plan_class></plan_classes>", []string{"plan class a: is defined twice"}},
		{"an element that is not closed", "<plan_classes><plan_class><name>a</name><max_threads>2<max_threads></plan_class></plan_classes>", []string{`is not closed`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := project.ParsePlanSpec([]byte(tt.text))
			for _, want := range tt.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("got %v, want %q", err, want)
				}
			}
		})
	}
}

// upstream are all keys of BOINC's plan_class_spec.xml, each with a value, as of November
// 2026: sched/plan_class_spec.cpp, PLAN_CLASS_SPEC::parse.
var upstream = map[string]string{
	"avg_ncpus": "1", "cal": "1", "cpu_feature": "avx", "cpu_frac": ".1", "cpu_model_regex": "i[79]", "cpu_vendor_regex": "Intel|AMD", "cuda": "1",
	"docker": "1", "double_precision_fp": "1", "exclude_vbox_version": "50100", "gpu_peak_flops_scale": ".2", "gpu_ram_used_mb": "100",
	"gpu_type": "amd", "gpu_type_regex": "^miner", "gpu_utilization_tag": "gpu_util", "infeasible_random": ".5", "is64bit": "1",
	"max_android_version": "1", "max_batch": "1", "max_cal_target": "1", "max_core_client_version": "1", "max_cuda_version": "1",
	"max_driver_version": "1", "max_gpu_peak_flops": "1e12", "max_nvidia_compcap": "1", "max_opencl_driver_revision": "1",
	"max_opencl_version": "1", "max_os_version": "1", "max_threads": "1", "max_vbox_version": "1", "max_wu_id": "1", "mem_usage_base_mb": "1",
	"mem_usage_per_cpu_mb": "1", "min_android_version": "1", "min_batch": "1", "min_boinc_wsl_distro_version": "1", "min_cal_target": "1",
	"min_core_client_version": "1", "min_cuda_version": "1", "min_driver_version": "1", "min_gpu_peak_flops": "1e9", "min_gpu_ram_mb": "1",
	"min_libc_version": "1", "min_metal_support": "1", "min_ncpus": "1", "min_nvidia_compcap": "1", "min_opencl_driver_revision": "1",
	"min_opencl_version": "1", "min_os_version": "1", "min_vbox_version": "1", "min_wu_id": "1", "need_amd_libs": "1", "need_ati_libs": "1",
	"ngpus": "-1", "nthreads_cmdline": "1", "opencl": "1", "os_regex": "^Linux Mint", "project_prefs_default_true": "1",
	"project_prefs_regex": "^[2-9]$", "project_prefs_tag": "max_cores", "projected_flops_scale": "1", "user_id": "1", "virtualbox": "1",
	"vm_accel_required": "1", "without_opencl": "1", "wsl": "1",
}

// Every key of BOINC's server is read, or named as one that this server does not support.
func TestPlanSpecReadsEveryKey(t *testing.T) {
	text := "<plan_classes><plan_class><name>all</name>"
	for key, value := range upstream {
		text += "<" + key + ">" + value + "</" + key + ">"
	}
	got, err := project.ParsePlanSpec([]byte(text + "</plan_class></plan_classes>"))
	must(t, err)
	c := got["all"]
	slices.Sort(c.Unsupported)
	want := []string{"min_boinc_wsl_distro_version", "wsl"}
	if !slices.Equal(c.Unsupported, want) {
		t.Errorf("not supported: %v, want %v", c.Unsupported, want)
	}
	var unread func(v reflect.Value)
	unread = func(v reflect.Value) {
		for f := range v.Type().Fields() {
			switch x := v.FieldByIndex(f.Index); {
			case f.Anonymous:
				unread(x)
			case x.IsZero() && f.Name != "MinMemoryMB":
				t.Errorf("%s is not read", f.Name)
			}
		}
	}
	unread(reflect.ValueOf(c))
	if !c.GPUTypeRegex.MatchString("miner_asic") || c.NGPUs != -1 || c.MinGPUPeakFlops != 1e9 {
		t.Errorf("got %+v", c)
	}
}

// The file that server.toml names is read in addition to it, and may not define the same classes
// again.
func TestPlanSpecOfAProject(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	c := project.DefaultConfig()
	c.LongName, c.MasterURL, c.PlanClassSpec = "Demo", "http://127.0.0.1/", "plan_class_spec.xml"
	write("server.toml", c.Text()+"[plan_class.own]\nngpus = 1\ngpu_type = \"fake\"\n")
	if _, err := project.ReadConfig(dir); err == nil || !strings.Contains(err.Error(), "plan_class_spec") {
		t.Errorf("without the file: %v", err)
	}
	write("plan_class_spec.xml", spec)
	got, err := project.ReadConfig(dir)
	if err != nil || len(got.PlanClasses) != 7 || got.ProcessorOf("own") != "fake" || got.ProcessorOf("opencl_ati_102") != "ATI" || got.ProcessorOf("mt") != "" {
		t.Errorf("%v: %d classes, %+v", err, len(got.PlanClasses), got.PlanClasses)
	}
	write("server.toml", c.Text()+"[plan_class.mt]\nmax_threads = 2\n")
	if _, err := project.ReadConfig(dir); err == nil || !strings.Contains(err.Error(), "plan class mt is defined in server.toml too") {
		t.Errorf("of a class that is there twice: %v", err)
	}
}

func FuzzPlanSpec(f *testing.F) {
	f.Add([]byte(spec))
	f.Add([]byte("<plan_classes><plan_class><name>a<ngpus>"))
	f.Fuzz(func(t *testing.T, text []byte) {
		classes, err := project.ParsePlanSpec(text)
		if err != nil && classes != nil {
			t.Error("classes of a file that is wrong")
		}
		for name, c := range classes {
			if !project.ValidPlanClass(name) || len(c.Check()) > 0 || slices.Contains(c.Unsupported, "") {
				t.Errorf("plan class %q: %+v", name, c)
			}
		}
	})
}
