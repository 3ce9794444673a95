package match

import "github.com/starling-grid/starling/protocol"

// besideNCPUs is how many CPUs a task uses that needs little CPU time, BOINC's number.
//
// Source: BOINC sched/sched_customize.cpp, plan class "nci".
const besideNCPUs = 0.01

// beside reports whether the tasks of an application need little CPU time, so that hosts run
// them beside others.
func (h *Host) beside(appID int64) bool { return h.facts.Catalog.Apps[appID].NonCPUIntensive }

// hasBeside returns why the host gets no other task of such an application, or nil: it has
// one, or it was taken.
//
// Source: BOINC sched/sched_nci.cpp, send_nci.
func (m *Match) hasBeside(appID int64) *Lack {
	if !m.beside(appID) {
		return nil
	}
	has := m.standing.Beside[appID]
	for i := range m.assigned {
		has = has || m.assigned[i].AppID == appID
	}
	if has {
		return &Lack{Code: protocol.RefusedInProgress, Need: 2, Have: 1}
	}
	return nil
}

// OnlyBeside reports whether the tasks of all applications need little CPU time.
func (c *Catalog) OnlyBeside() bool {
	for _, a := range c.Apps {
		if !a.NonCPUIntensive {
			return false
		}
	}
	return len(c.Apps) > 0
}
