package match

import "github.com/starling-grid/starling/server/store"

// Targets returns the targets whose work this host gets in addition to the work that is open to all
// hosts.
func (h *Host) Targets() (list []store.Target) {
	x := &h.facts.Host
	if x.ID != 0 {
		list = append(list, store.Target{Type: store.TargetHost, ID: x.ID})
	}
	if x.UserID != 0 {
		list = append(list, store.Target{Type: store.TargetUser, ID: x.UserID})
	}
	if team := h.facts.Team; team != 0 {
		list = append(list, store.Target{Type: store.TargetTeam, ID: team})
	}
	return list
}

// targeted reports whether a candidate is for this host, or for all hosts.
func (h *Host) targeted(c *store.Candidate) bool {
	switch x := &h.facts.Host; c.Target.Type {
	case store.TargetNone:
		return true
	case store.TargetHost:
		return c.Target.ID == x.ID
	case store.TargetUser:
		return c.Target.ID == x.UserID
	case store.TargetTeam:
		return c.Target.ID == h.facts.Team && h.facts.Team != 0
	}
	return false
}

// hadOne reports whether the host, or its user, had a result of a candidate's workunit and may not
// have another. A host may have another if the workunit is for it alone: no other host can replace
// a result that failed, and as its quorum is 1 nothing is compared.
func (m *Match) hadOne(c *store.Candidate) bool {
	return m.had[c.WorkunitID] && !c.Target.Alone()
}
