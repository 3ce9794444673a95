package match_test

import (
	"strings"
	"testing"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/match"
)

func TestVirtualMachinesAndContainers(t *testing.T) {
	vbox := match.Virtual{VirtualBox: true, Is64bit: true, MinVBoxVersion: 50200, MaxVBoxVersion: 70199, ExcludeVBoxVersion: []int{60102}, VMAccelRequired: true}
	for _, tt := range []struct {
		name  string
		class match.Virtual
		host  func(r *protocol.SchedulerRequest)
		want  string // the refusal's detail ("": it gets the task, "platform": as if no program is for it)
	}{
		{"VirtualBox as it is wanted", vbox, func(*protocol.SchedulerRequest) {}, ""},
		{"VirtualBox of a build", vbox, func(r *protocol.SchedulerRequest) { r.Host.VirtualBoxVersion = "7.1.6_Debianr167084" }, ""},
		{"no VirtualBox", vbox, func(r *protocol.SchedulerRequest) { r.Host.VirtualBoxVersion = "" }, "VirtualBox, which this computer does not offer"},
		{"VirtualBox that does not work", vbox, func(r *protocol.SchedulerRequest) {
			r.Host.VirtualBoxVersion = "7.1.6 (unusable - Podman/Docker present)"
		}, "VirtualBox, which"},
		{"an old VirtualBox", vbox, func(r *protocol.SchedulerRequest) { r.Host.VirtualBoxVersion = "5.1.38" }, "VirtualBox 5.2.0 or newer, and this computer has 5.1.38"},
		{"a new VirtualBox", vbox, func(r *protocol.SchedulerRequest) { r.Host.VirtualBoxVersion = "7.2.0" }, "VirtualBox 7.1.99 or older"},
		{"an excluded VirtualBox", vbox, func(r *protocol.SchedulerRequest) { r.Host.VirtualBoxVersion = "6.1.2" }, "another version of VirtualBox than 6.1.2"},
		{"no support by the processor", vbox, func(r *protocol.SchedulerRequest) { r.Host.Features = "sse2" }, "a processor that supports virtual machines"},
		{"support that is turned off", vbox, func(r *protocol.SchedulerRequest) { r.Host.VMExtensionsDisabled = true }, "turned on in the firmware"},
		{"a machine of 32 bits on a host of 64", match.Virtual{VirtualBox: true}, func(*protocol.SchedulerRequest) {}, "platform"},
		{"Podman", match.Virtual{Docker: true}, func(*protocol.SchedulerRequest) {}, ""},
		{"no containers", match.Virtual{Docker: true}, func(r *protocol.SchedulerRequest) { r.Host.DockerVersion = "" }, "Podman or Docker"},
		{"containers that are not allowed", match.Virtual{Docker: true}, func(r *protocol.SchedulerRequest) { r.DontUseDocker = true }, "Podman or Docker"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld()
			w.facts.Catalog.Versions[0].PlanClass = "x"
			w.facts.Rules.PlanClasses = map[string]match.PlanClass{"x": {Virtual: tt.class}}
			r := w.facts.Request
			r.Host.Features, r.Host.VirtualBoxVersion, r.Host.DockerVersion = "sse2 vmx", "7.0.20", "4.3.1"
			tt.host(r)
			w.add()
			m, given := w.assign()
			code := protocol.RefusedVirtualBox
			switch {
			case strings.Contains(tt.want, "Docker"):
				code = protocol.RefusedContainers
			case strings.Contains(tt.want, "processor"), strings.Contains(tt.want, "firmware"): // no program helps
				code = protocol.RefusedPlanClass
			}
			switch why := m.Refusals(); {
			case tt.want == "":
				if len(given) != 1 {
					t.Errorf("refused: %+v", why)
				}
			case len(given) > 0 || len(why) != 1:
				t.Errorf("given %v, refused %+v", given, why)
			case tt.want == "platform":
				if why[0].Code != protocol.RefusedPlatform {
					t.Errorf("refused %+v", why)
				}
			case why[0].Code != code || !strings.Contains(why[0].Detail, tt.want):
				t.Errorf("refused %+v, want %q", why, tt.want)
			}
		})
	}
}

// A virtual machine uses one CPU where the processor does not support more.
func TestVirtualMachineWithoutSupport(t *testing.T) {
	for features, want := range map[string]float64{"sse2 svm": 2, "sse2": 1} {
		w := newWorld()
		w.facts.Catalog.Versions[0].PlanClass = "x"
		w.facts.Rules.PlanClasses = map[string]match.PlanClass{"x": {MaxThreads: 8, Virtual: match.Virtual{VirtualBox: true, Is64bit: true}}}
		w.facts.Request.Host.Features, w.facts.Request.Host.VirtualBoxVersion = features, "7.0.20"
		w.add()
		m, _ := w.assign()
		if a := m.Assigned(); len(a) != 1 || a[0].Usage.NCPUs != want {
			t.Errorf("with %s: %+v, want %v CPUs", features, a, want)
		}
	}
}
