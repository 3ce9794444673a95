package match

import "github.com/starling-grid/starling/protocol"

// besideNCPUs is the number of CPUs that a task which needs little CPU time uses. The number is
// BOINC's.
//
// Source: BOINC sched/sched_customize.cpp, plan class "nci".
const besideNCPUs = 0.01

// beside reports whether the tasks of an application need so little CPU time that hosts run them in
// addition to others.
func (h *Host) beside(appID int64) bool { return h.facts.Catalog.Apps[appID].NonCPUIntensive }

// hasBeside returns why the host gets no further task of such an application, or nil. The reason is
// that it has one already, or that this match took one.
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
