package match

import (
	"fmt"
	"math"

	"github.com/starling-grid/starling/protocol"
)

// A Memory is the memory of a task on several CPUs, which replaces the bound of its workunit: a
// base, and more for each CPU. Without MemUsagePerCPUMB it has no effect.
//
// Source: BOINC sched/plan_class_spec.cpp, PLAN_CLASS_SPEC::check.
type Memory struct {
	MemUsageBaseMB   float64 `toml:"mem_usage_base_mb"`
	MemUsagePerCPUMB float64 `toml:"mem_usage_per_cpu_mb"`
}

func (m *Memory) numbers() []keyed {
	return []keyed{{"mem_usage_base_mb", m.MemUsageBaseMB}, {"mem_usage_per_cpu_mb", m.MemUsagePerCPUMB}}
}

// limit reduces the number of CPUs of a task to the number for which there is memory, given usable
// bytes, and adds the amount of memory to the command line of its program. If there is not enough
// memory for the fewest CPUs, it returns the requirement that is not met.
func (m *Memory) limit(u *Usage, fewest int, usable float64) *Lack {
	if m.MemUsagePerCPUMB <= 0 {
		return nil
	}
	need := func(cpus float64) float64 { return (m.MemUsageBaseMB + cpus*m.MemUsagePerCPUMB) * mega }
	if least := need(float64(max(1, fewest))); least > usable {
		return &Lack{Code: protocol.RefusedMemory, Need: least, Have: usable}
	}
	u.NCPUs = min(u.NCPUs, math.Floor((usable/mega-m.MemUsageBaseMB)/m.MemUsagePerCPUMB))
	u.Memory = need(u.NCPUs)
	u.Cmdline = fmt.Sprintf("--memory_size_mb %.0f", u.Memory/mega)
	return nil
}
