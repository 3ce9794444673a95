package gpus_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/agent/gpus"
	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/resource"
)

// The answers here are made up according to the drivers' manuals, except the one from PoCL.

func nvidia(driver string, cards ...gpus.NVIDIADevice) gpus.Answer {
	return gpus.Answer{Reply: gpus.Reply{Library: "libcuda.so.1", NVIDIA: &gpus.Driver{Version: driver, CUDA: 12040, Devices: cards}}}
}

func openCL(devices ...gpus.OpenCLDevice) gpus.Answer {
	for i := range devices {
		devices[i].Number, devices[i].Index = i, i
		if devices[i].Facts.DeviceVersion == "" {
			devices[i].Facts.DeviceVersion = "OpenCL 3.0 X"
		}
	}
	return gpus.Answer{Reply: gpus.Reply{Library: "libOpenCL.so.1", Platforms: []gpus.Platform{{Name: "P", Version: "OpenCL 3.0", Devices: devices}}}}
}

var (
	rtx3060 = gpus.NVIDIADevice{Name: "NVIDIA GeForce RTX 3060", Memory: 12 << 30, Major: 8, Minor: 6, ClockKHz: 1777000, Multiprocessors: 28, PCI: "0000:01:00.0"}
	gt1030  = gpus.NVIDIADevice{Name: "NVIDIA GeForce GT 1030", Memory: 2 << 30, Major: 6, Minor: 1, ClockKHz: 1468000, Multiprocessors: 3, PCI: "0000:02:00.0"}
	radeon  = gpus.OpenCLDevice{Kind: "ATI", PCI: "0000:03:00.0", Board: "AMD Radeon RX 6600", Lanes: 64, Facts: protocol.OpenCL{Name: "gfx1032", GlobalMem: 8 << 30, ComputeUnits: 14, ClockMHz: 2491, DriverVersion: "3590.0"}}
	arc     = gpus.OpenCLDevice{Kind: "intel_gpu", Facts: protocol.OpenCL{Name: "Intel(R) Arc(TM) A380 Graphics", GlobalMem: 6e9, ComputeUnits: 128, ClockMHz: 2450}}
	pocl    = gpus.OpenCLDevice{CPU: true, Facts: protocol.OpenCL{Name: "pthread-skylake-avx512-AMD EPYC", Vendor: "AuthenticAMD", GlobalMem: 11234664448, ComputeUnits: 2, ClockMHz: 2596}}
)

// cl returns an NVIDIA device as OpenCL describes it.
func cl(d gpus.NVIDIADevice, pci string) gpus.OpenCLDevice {
	return gpus.OpenCLDevice{Kind: "NVIDIA", PCI: pci, Facts: protocol.OpenCL{Name: d.Name, GlobalMem: float64(d.Memory), ComputeUnits: d.Multiprocessors, ClockMHz: d.ClockKHz / 1000, DriverVersion: "550.90.07", Major: d.Major, Minor: d.Minor}}
}

// used lists the devices that tasks may use: kind, numbers, peak speed in units of 10⁹.
func used(s gpus.Set) string {
	var all []string
	for _, g := range s.Groups {
		var numbers []string
		for _, d := range g.Devices {
			numbers = append(numbers, fmt.Sprintf("%d/%d", d.Number, d.Index))
		}
		all = append(all, fmt.Sprintf("%s %s %.0f", string(g.Kind), strings.Join(numbers, ","), g.PeakFlops/1e9))
	}
	return strings.Join(all, "; ")
}

func TestWhatTasksMayUse(t *testing.T) {
	both := gpus.Report{NVIDIA: nvidia("550.90.07", rtx3060, gt1030), OpenCL: openCL(cl(gt1030, gt1030.PCI), cl(rtx3060, rtx3060.PCI))}
	for _, c := range []struct {
		name   string
		report gpus.Report
		set    settings.Settings
		want   string // used: kind, number/index for OpenCL, speed
		unused string // part of the reason of the first
		absent string // likewise
	}{
		{name: "nothing is there"},
		{name: "of two models the best is used, and OpenCL's numbers are matched by place", report: both, want: "NVIDIA 0/1 12738", unused: "set use_all_gpus = true"},
		{name: "all on request", report: both, set: settings.Settings{UseAllGPUs: true}, want: "NVIDIA 0/1,1/0 12738"},
		{
			name: "an ignored one leaves the other", report: both, set: settings.Settings{IgnoreGPUs: []settings.IgnoreGPU{{Type: "NVIDIA", Devices: []int{0}}}},
			want: "NVIDIA 1/0 1127", unused: "because of ignore_gpu",
		},
		{
			name: "all are ignored", report: both, set: settings.Settings{IgnoreGPUs: []settings.IgnoreGPU{{}}},
			unused: "because of ignore_gpu", absent: "The NVIDIA GPU here cannot be used: it is not used because of ignore_gpu in starling.toml.",
		},
		{name: "none is to be used", report: both, set: settings.Settings{NoGPUs: true}, unused: "no_gpus", absent: "no_gpus"},
		{
			name: "without places they are matched by name", want: "NVIDIA 0/1,1/0 12738", set: settings.Settings{UseAllGPUs: true},
			report: gpus.Report{NVIDIA: nvidia("550.90.07", rtx3060, gt1030), OpenCL: openCL(cl(gt1030, ""), cl(rtx3060, ""))},
		},
		{
			name: "two of a kind that differ little in memory are used", want: "NVIDIA 0/-1,1/-1 12738",
			report: gpus.Report{NVIDIA: nvidia("550.90.07", rtx3060, func() gpus.NVIDIADevice { d := rtx3060; d.Memory -= 1 << 30; d.PCI = "x"; return d }())},
		},
		{name: "OpenCL alone knows NVIDIA's", report: gpus.Report{OpenCL: openCL(cl(rtx3060, ""))}, want: "NVIDIA 0/0 12738"},
		{
			name: "one that OpenCL does not know is left out beside one that it does", want: "NVIDIA 0/0 12738", unused: "no OpenCL driver",
			report: gpus.Report{NVIDIA: nvidia("550", rtx3060, rtx3060), OpenCL: openCL(cl(rtx3060, ""))},
		},
		{name: "several vendors", report: gpus.Report{OpenCL: openCL(arc, pocl, radeon)}, want: "ATI 0/2 4464; intel_gpu 0/0 2509"},
		{name: "the card of a second driver is not another one", report: gpus.Report{OpenCL: openCL(radeon, radeon)}, want: "ATI 0/0 4464"},
		{name: "a CPU is no GPU", report: gpus.Report{OpenCL: openCL(pocl)}},
		{name: "an emulated device is none", report: gpus.Report{NVIDIA: nvidia("1", gpus.NVIDIADevice{Name: "Emulation", Major: 9999})}},
		{
			name: "a CPU is what the volunteer calls it", report: gpus.Report{OpenCL: openCL(radeon, pocl)}, want: "pocl 0/1 42; ATI 0/0 4464",
			set: settings.Settings{Coprocs: []settings.Coproc{{Type: "pocl", OpenCL: "PThread"}}},
		},
		{
			name: "what was to be found is not there", report: gpus.Report{OpenCL: openCL(radeon)}, want: "ATI 0/0 4464", absent: `no device whose name contains "pthread"`,
			set: settings.Settings{Coprocs: []settings.Coproc{{Type: "pocl", OpenCL: "pthread"}}},
		},
		{
			name: "a declaration wins", report: both, want: "NVIDIA 1/0 5; fake 0/-1,1/-1 0",
			set: settings.Settings{Coprocs: []settings.Coproc{{Type: "NVIDIA", Count: 1, Devices: []int{1}, PeakFlops: 5e9}, {Type: "fake", Count: 2}}},
		},
		{
			name: "a declared device has the speed that was found", report: both, want: "NVIDIA 0/1 12738",
			set: settings.Settings{Coprocs: []settings.Coproc{{Type: "NVIDIA", Count: 1}}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := gpus.Join(c.set, c.report)
			if got := used(s); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if c.unused == "" != (len(s.Unused) == 0) || c.unused != "" && !strings.Contains(s.Unused[0].Why, c.unused) {
				t.Errorf("not used: %+v", s.Unused)
			}
			if c.absent == "" != (len(s.Absent) == 0) || c.absent != "" && !strings.Contains(s.Absent[0].Why, c.absent) {
				t.Errorf("absent: %+v", s.Absent)
			}
		})
	}
}

func TestWhatARequestTells(t *testing.T) {
	s := gpus.Join(settings.Settings{UseAllGPUs: true}, gpus.Report{NVIDIA: nvidia("550.90.07", rtx3060, gt1030), OpenCL: openCL(cl(rtx3060, ""), radeon)})
	c, ok := s.Describe(resource.NVIDIA)
	if !ok || c.Count != 1 || c.Name != rtx3060.Name || c.Version != "55090" || c.CUDA != 12040 || c.Major != 8 || c.OpenCL == nil || c.OpenCL.PlatformVersion != "OpenCL 3.0" || c.Memory != 12<<30 {
		t.Errorf("NVIDIA: %+v", c)
	}
	c, ok = s.Describe(resource.ATI)
	if !ok || c.Version != "" || c.Name != "AMD Radeon RX 6600" || c.OpenCL.Name != "gfx1032" || c.OpenCL.DriverVersion != "3590.0" {
		t.Errorf("ATI: %+v", c)
	}
	if _, ok = s.Describe(resource.Intel); ok {
		t.Error("an Intel GPU is described")
	}
	if i, none := s.OpenCLIndex(resource.ATI, 0), s.OpenCLIndex(resource.ATI, 1); i != 1 || none != -1 {
		t.Errorf("OpenCL's index %d, of none %d", i, none)
	}
	pools := s.Pools(1e9)
	if len(pools) != 2 || math.Abs(pools[0].Weight-12738) > 1 || pools[0].Devices[0].Memory != 12<<30 {
		t.Errorf("pools %+v", pools)
	}
	if text := s.Groups[0].String(); text != "1 NVIDIA GPU (NVIDIA GeForce RTX 3060)" {
		t.Error(text)
	}
	for version, want := range map[string]string{"550.90.07": "55090", "535.104.05": "53510", "470.5": "47050", "": "", "x.1": ""} {
		got, _ := gpus.Join(settings.Settings{}, gpus.Report{NVIDIA: nvidia(version, rtx3060)}).Describe(resource.NVIDIA)
		if got.Version != want {
			t.Errorf("driver %s: got %q, want %q", version, got.Version, want)
		}
	}
}

// The peak speeds are those on the vendors' data sheets, within 2 %.
func TestPeakSpeed(t *testing.T) {
	for name, c := range map[string]struct {
		d    gpus.NVIDIADevice
		want float64
	}{
		"GeForce 8800 GTX": {gpus.NVIDIADevice{Major: 1, ClockKHz: 1350000, Multiprocessors: 16}, 0.518e12},
		"GeForce GTX 480":  {gpus.NVIDIADevice{Major: 2, ClockKHz: 1401000, Multiprocessors: 15}, 1.345e12},
		"GeForce GTX 680":  {gpus.NVIDIADevice{Major: 3, ClockKHz: 1058000, Multiprocessors: 8}, 3.25e12},
		"GeForce GTX 980":  {gpus.NVIDIADevice{Major: 5, Minor: 2, ClockKHz: 1216000, Multiprocessors: 16}, 4.98e12},
		"Tesla P100":       {gpus.NVIDIADevice{Major: 6, ClockKHz: 1480000, Multiprocessors: 56}, 10.6e12},
		"GeForce RTX 2080": {gpus.NVIDIADevice{Major: 7, Minor: 5, ClockKHz: 1710000, Multiprocessors: 46}, 10.07e12},
		"A100":             {gpus.NVIDIADevice{Major: 8, ClockKHz: 1410000, Multiprocessors: 108}, 19.5e12},
		"GeForce RTX 4090": {gpus.NVIDIADevice{Major: 8, Minor: 9, ClockKHz: 2520000, Multiprocessors: 128}, 82.6e12},
		"H100 SXM":         {gpus.NVIDIADevice{Major: 9, ClockKHz: 1980000, Multiprocessors: 132}, 67e12},
	} {
		got := gpus.Report{NVIDIA: nvidia("1", c.d)}.Devices()[0].PeakFlops
		if math.Abs(got/c.want-1) > 0.02 {
			t.Errorf("%s: got %.4g, want %.4g", name, got, c.want)
		}
	}
}

func TestADeviceThatIsGone(t *testing.T) {
	now := time.Date(2026, 11, 23, 12, 4, 0, 0, time.Local)
	then := gpus.Report{NVIDIA: nvidia("550.90.07", rtx3060), OpenCL: openCL(radeon)}
	before := gpus.Join(settings.Settings{}, then)

	// A driver that does not answer once takes no device away.
	silent := gpus.Report{NVIDIA: gpus.Answer{Failure: "It hangs."}, OpenCL: openCL(radeon)}
	if s := gpus.Join(settings.Settings{}, silent.After(then)).After(before, now); used(s) != used(before) || len(s.Absent) != 0 {
		t.Errorf("got %s, %+v", used(s), s.Absent)
	}
	if s := gpus.Join(settings.Settings{}, silent.After(silent)); s.Of(resource.NVIDIA) != nil {
		t.Error("there is a device that never was")
	}

	// One that answers without the device does.
	lost := gpus.Report{NVIDIA: gpus.Answer{Reply: gpus.Reply{Error: "cuInit: no device (100)"}}, OpenCL: openCL(radeon), Cards: []gpus.Card{{Kind: resource.NVIDIA, Module: "nvidia"}}}
	s := gpus.Join(settings.Settings{}, lost.After(then)).After(before, now)
	want := "This computer had 1 NVIDIA GPU (NVIDIA GeForce RTX 3060) until 12:04:00, but its driver no longer offers any. There is an NVIDIA GPU in this computer, but its driver answers: cuInit: no device (100)."
	if used(s) != "ATI 0/0 4464" || len(s.Absent) != 1 || s.Absent[0].Why != want {
		t.Errorf("got %s, %+v", used(s), s.Absent)
	}
	again := gpus.Join(settings.Settings{}, lost).After(s, now.Add(time.Hour))
	if !again.Equal(s) {
		t.Errorf("an hour later: %+v", again.Absent)
	}
	if back := gpus.Join(settings.Settings{}, then).After(again, now); !back.Equal(before) {
		t.Errorf("it is back: %+v", back)
	}
}

func TestWhyThereIsNone(t *testing.T) {
	missing := gpus.Answer{Reply: gpus.Reply{Missing: true, Error: "libcuda.so.1: not found"}}
	for _, c := range []struct {
		name string
		r    gpus.Report
		want []string
	}{
		{"no card and no library", gpus.Report{NVIDIA: missing, OpenCL: missing}, nil},
		{"no kernel driver", gpus.Report{Cards: []gpus.Card{{Kind: resource.NVIDIA}}}, []string{"There is an NVIDIA GPU in this computer, but the kernel has no driver for it.", "nvidia-driver"}},
		{"nouveau", gpus.Report{NVIDIA: missing, Cards: []gpus.Card{{Kind: resource.NVIDIA, Module: "nouveau"}}}, []string{"its driver is nouveau", "Install NVIDIA's"}},
		{"no library", gpus.Report{NVIDIA: missing, Cards: []gpus.Card{{Kind: resource.NVIDIA, Module: "nvidia"}}}, []string{"the library of its driver is missing (libcuda.so.1: not found)", "libcuda1"}},
		{"it crashes", gpus.Report{NVIDIA: gpus.Answer{Failure: "It crashed."}, Cards: []gpus.Card{{Kind: resource.NVIDIA, Module: "nvidia"}}}, []string{"it cannot be used. It crashed."}},
		{"it crashes and there may be none", gpus.Report{NVIDIA: gpus.Answer{Failure: "It crashed."}}, []string{"It is not known whether there is one. It crashed."}},
		{"no OpenCL", gpus.Report{OpenCL: missing, Cards: []gpus.Card{{Kind: resource.ATI, Module: "amdgpu"}}}, []string{"There is an AMD GPU", "there is no OpenCL", "mesa-opencl-icd"}},
		{"no driver for OpenCL", gpus.Report{OpenCL: openCL(pocl), Cards: []gpus.Card{{Kind: resource.Intel, Module: "i915"}}}, []string{"There is an Intel GPU", "no OpenCL driver offers it", "intel-opencl-icd"}},
		{
			"no permission",
			gpus.Report{Cards: []gpus.Card{{Kind: resource.Intel, Module: "i915", Node: "/dev/dri/renderD128", Closed: "permission denied", Group: "render"}}},
			[]string{"the agent cannot open /dev/dri/renderD128 (permission denied)", "sudo usermod -aG render"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := gpus.Join(settings.Settings{}, c.r)
			if len(c.want) == 0 && len(s.Absent) == 0 {
				return
			}
			if len(s.Absent) != 1 || slices.ContainsFunc(c.want, func(part string) bool { return !strings.Contains(s.Absent[0].Why, part) }) {
				t.Errorf("got %+v, want %q", s.Absent, c.want)
			}
		})
	}
}
