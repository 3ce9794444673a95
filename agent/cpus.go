package agent

import (
	"fmt"
	"slices"

	"github.com/starling-grid/starling/agent/hostinfo"
	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/resource"
)

// chooseCPUs returns the CPUs of a computer on which tasks may run, by the setting cpus, or nil for all. why is
// the reason if the setting does nothing.
func chooseCPUs(setting string, usable []int, kinds hostinfo.Kinds) (cpus []int, why string) {
	const noKinds = "this computer's CPUs are of one kind, or their kind is not known. You can: set it to numbers of CPUs in starling.toml, such as 0-3"
	switch setting {
	case "":
		return nil, ""
	case settings.Performance:
		cpus, why = kinds.Performance, noKinds
	case settings.Efficiency:
		cpus, why = kinds.Efficiency, noKinds
	default:
		var err error
		if cpus, err = resource.ParseCPUs(setting); err != nil {
			return nil, "" // it is among the faults of starling.toml
		}
		why = fmt.Sprintf("the agent can use CPUs %s only. You can: name some of these", resource.FormatCPUs(usable))
	}
	if len(usable) == 0 {
		return nil, "tasks can be placed on Linux only. You can: use fewer CPUs with max_ncpus_pct"
	}
	cpus = slices.DeleteFunc(slices.Clone(cpus), func(n int) bool { return !slices.Contains(usable, n) })
	if len(cpus) == 0 {
		return nil, why
	}
	return cpus, ""
}
