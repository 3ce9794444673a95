package match

import (
	"fmt"
	"math"

	"github.com/starling-grid/starling/protocol"
)

// A Memory is how much memory a task on several CPUs takes, in place of what its workunit
// says: a base, and more for each CPU. Without MemUsagePerCPUMB it means nothing.
//
// Source: BOINC sched/plan_class_spec.cpp, PLAN_CLASS_SPEC::check.
type Memory struct {
	MemUsageBaseMB   float64 `toml:"mem_usage_base_mb"`
	MemUsagePerCPUMB float64 `toml:"mem_usage_per_cpu_mb"`
}

func (m *Memory) numbers() []keyed {
	return []keyed{{"mem_usage_base_mb", m.MemUsageBaseMB}, {"mem_usage_per_cpu_mb", m.MemUsagePerCPUMB}}
}

// limit has a task use no more CPUs than there is memory for, of which usable bytes may be
// used, and tells its program how much that is; it returns what is missing if there is not
// enough for the fewest CPUs.
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
