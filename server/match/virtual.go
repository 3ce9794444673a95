package match

import (
	"fmt"
	"slices"
	"strings"

	"github.com/starling-grid/starling/protocol"
)

// Virtual has a plan class's requirements for a host that runs programs in a virtual machine or a
// container. Versions of VirtualBox are 10000·major + 100·minor + release.
//
// Source: BOINC sched/plan_class_spec.cpp, PLAN_CLASS_SPEC::check.
type Virtual struct {
	VirtualBox         bool  `toml:"virtualbox"`
	MinVBoxVersion     int   `toml:"min_vbox_version"`
	MaxVBoxVersion     int   `toml:"max_vbox_version"` // 0: any
	ExcludeVBoxVersion []int `toml:"exclude_vbox_version"`
	VMAccelRequired    bool  `toml:"vm_accel_required"` // VT-x or AMD-V, turned on
	Is64bit            bool  `toml:"is64bit"`           // the machine is one of 64 bits: for hosts of that kind, as others for others

	Docker bool `toml:"docker"` // Docker, or Podman
}

func (v *Virtual) numbers() (all []keyed) {
	for _, n := range v.ExcludeVBoxVersion {
		all = append(all, keyed{"exclude_vbox_version", float64(n)})
	}
	return append(all, keyed{"min_vbox_version", float64(v.MinVBoxVersion)}, keyed{"max_vbox_version", float64(v.MaxVBoxVersion)})
}

func (v *Virtual) check() (errs []PlanClassError) {
	if v.VirtualBox {
		return nil
	}
	for key, set := range map[string]bool{
		"min_vbox_version": v.MinVBoxVersion != 0, "max_vbox_version": v.MaxVBoxVersion != 0,
		"exclude_vbox_version": len(v.ExcludeVBoxVersion) > 0, "vm_accel_required": v.VMAccelRequired,
	} {
		if set {
			errs = append(errs, PlanClassError{key, "means nothing without virtualbox = true"})
		}
	}
	slices.SortFunc(errs, func(a, b PlanClassError) int { return strings.Compare(a.Key, b.Key) })
	return errs
}

// lacks returns the requirement that the host of a request does not meet, or nil.
func (v *Virtual) lacks(req *protocol.SchedulerRequest) *Lack {
	h := &req.Host
	if v.Docker && (h.DockerVersion == "" || req.DontUseDocker) {
		return &Lack{Code: protocol.RefusedContainers, Detail: "Podman or Docker, which this computer does not offer"}
	}
	need := func(format string, args ...any) *Lack {
		return &Lack{Code: protocol.RefusedVirtualBox, Detail: fmt.Sprintf(format, args...)}
	}
	if !v.VirtualBox {
		return nil
	}
	// Of a host's platforms only the first counts: a machine of 32 bits does not find
	// VirtualBox on Windows with 64.
	if strings.Contains(req.Platform, "64") != v.Is64bit {
		return &Lack{Code: protocol.RefusedPlatform}
	}
	var major, minor, release int
	if n, _ := fmt.Sscanf(h.VirtualBoxVersion, "%d.%d.%d", &major, &minor, &release); n != 3 || strings.Contains(h.VirtualBoxVersion, "unusable") {
		return need("VirtualBox, which this computer does not offer")
	}
	dotted := func(n int) string { return fmt.Sprintf("%d.%d.%d", n/10000, n/100%100, n%100) }
	switch has := major*10000 + minor*100 + release; {
	case has < v.MinVBoxVersion:
		return need("VirtualBox %s or newer, and this computer has %s", dotted(v.MinVBoxVersion), dotted(has))
	case v.MaxVBoxVersion > 0 && has > v.MaxVBoxVersion:
		return need("VirtualBox %s or older, and this computer has %s", dotted(v.MaxVBoxVersion), dotted(has))
	case slices.Contains(v.ExcludeVBoxVersion, has):
		return need("another version of VirtualBox than %s", dotted(has))
	}
	if v.VMAccelRequired && !accelerated(h) {
		return &Lack{Code: protocol.RefusedPlanClass, Detail: "a processor that supports virtual machines (VT-x or AMD-V), turned on in the firmware"}
	}
	return nil
}

// accelerated reports whether the processor supports virtual machines.
func accelerated(h *protocol.HostInfo) bool {
	features := strings.Fields(strings.ToLower(h.Features))
	return !h.VMExtensionsDisabled && (slices.Contains(features, "vmx") || slices.Contains(features, "svm"))
}
