package doctor

import (
	"strings"
	"testing"

	"github.com/starling-grid/starling/agent/gpus"
	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/resource"
)

func TestCoprocessorsAreExplained(t *testing.T) {
	big := gpus.NVIDIADevice{Name: "Big", Memory: 2e10, Major: 9, PCI: "0000:01:00.0"}
	small := gpus.NVIDIADevice{Name: "Small", Memory: 1e9, Major: 6, PCI: "0000:02:00.0"}
	var r gpus.Report
	r.NVIDIA.NVIDIA = &gpus.Driver{Version: "550.90.07", CUDA: 12040, Devices: []gpus.NVIDIADevice{big, small}}
	cpu := gpus.OpenCLDevice{CPU: true, Facts: protocol.OpenCL{Name: "pthread", DriverVersion: "3.1"}}
	r.OpenCL.Platforms = []gpus.Platform{{Devices: []gpus.OpenCLDevice{cpu}}}
	r.Cards = []gpus.Card{{Kind: resource.Intel, Module: "i915", Node: "/dev/dri/renderD128", Closed: "permission denied", Group: "render"}}
	for _, c := range []struct {
		name string
		s    settings.Settings
		r    gpus.Report
		want []string
	}{
		{"nothing", settings.Settings{}, gpus.Report{}, []string{"ok none found"}},
		{"much", settings.Settings{}, r, []string{
			"ok 1 NVIDIA GPU (Big), found by CUDA 12.4, driver 550.90",
			"note Small (NVIDIA GPU 1): device 0 (Big) is more capable; to use both, set use_all_gpus = true in starling.toml",
			"note There is an Intel GPU in this computer, but the agent cannot open /dev/dri/renderD128 (permission denied). Add the agent's user to the group render (sudo usermod -aG render USER) and restart the agent.",
			"ok OpenCL also offers 1 CPU (pthread), which tasks use as such only if you declare it",
		}},
		{"declared", settings.Settings{NoGPUs: true, Coprocs: []settings.Coproc{{Type: "pocl", OpenCL: "pthread"}, {Type: "fake", Count: 2}}}, r, []string{
			"ok 1 pocl (pthread), found by OpenCL, driver 3.1, declared in starling.toml", "ok 2 fakes, declared in starling.toml",
			"note Big (NVIDIA GPU 0): it is not used because of no_gpus in starling.toml", "note Small (NVIDIA GPU 1): it is not used because of no_gpus in starling.toml",
			"note There is an Intel GPU", "ok OpenCL also offers",
		}},
		{"no program", settings.Settings{}, gpus.Report{OpenCL: gpus.Answer{Failure: "x is not installed"}, NVIDIA: gpus.Answer{Failure: "x is not installed"}}, []string{"note GPUs were not looked for: x is not installed"}},
		{"a driver that hangs", settings.Settings{}, gpus.Report{NVIDIA: gpus.Answer{Failure: "It hangs."}}, []string{"note GPUs were not looked for by CUDA. It hangs."}},
	} {
		t.Run(c.name, func(t *testing.T) {
			all := devices(c.s, c.r)
			for i, f := range all {
				if got := string(f.Grade) + " " + f.Text.String(); f.Check != "coprocessors" || i >= len(c.want) || !strings.HasPrefix(got, c.want[i]) {
					t.Errorf("got %s", got)
				}
			}
			if len(all) != len(c.want) {
				t.Errorf("%d findings, want %d", len(all), len(c.want))
			}
		})
	}
}
