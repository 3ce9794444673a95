package boincimport

import (
	"slices"

	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/internal/words"
)

// found are the kinds of coprocessors that the agent finds without a declaration.
var found = []string{"NVIDIA", "ATI", "intel_gpu", "apple_gpu"}

// undeclared notes the kinds of coprocessors that tasks wait for and that only their owner can
// declare to the agent.
func (m *importer) undeclared(plan []job) {
	s, _ := settings.Load(m.to) // the agent reports the file's faults
	for _, j := range plan {
		waiting := make(map[string]int)
		for _, r := range j.taken.Results {
			if r.Computing() && !r.ReadyToReport {
				waiting[r.Version]++
			}
		}
		tasks := make(map[string]int)
		var kinds []string
		for _, v := range j.taken.Versions {
			if n := waiting[v.ID()]; n > 0 && v.Coproc != "" {
				if tasks[v.Coproc] == 0 {
					kinds = append(kinds, v.Coproc)
				}
				tasks[v.Coproc] += n
			}
		}
		for _, kind := range kinds {
			declared := slices.ContainsFunc(s.Coprocs, func(c settings.Coproc) bool { return c.Type == kind })
			if !declared && !slices.Contains(found, kind) {
				m.note("%s: %s for a coprocessor (%s) that the agent does not detect; to have it used, add a [[coproc]] section with type = %q and count = 1 to starling.toml",
					j.account.MasterURL, words.Count(tasks[kind], "task"), kind, kind)
			}
		}
	}
}
