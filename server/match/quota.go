package match

import (
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/hostversion"
	"github.com/starling-grid/starling/server/store"
)

// overQuota returns the reason if the host has reached its daily quota of results for an app
// version, including the results taken, or nil.
func (m *Match) overQuota(v *store.AppVersion) *Lack {
	quota := m.facts.Rules.DailyResultQuota
	if quota <= 0 {
		return nil
	}
	e := m.standing.Earned[v.ID]
	most := hostversion.Quota(e, quota) * m.processors(v)
	if e.NJobsToday+m.today[v.ID] < most {
		return nil
	}
	u, _ := m.Usage(v)
	return &Lack{Code: protocol.RefusedQuota, Kind: u.Coproc, Need: float64(most + 1), Have: float64(most)}
}

// processors returns the number of CPUs that the processors of a version count as.
func (m *Match) processors(v *store.AppVersion) int {
	u, _ := m.Usage(v)
	if c := m.coproc(u.Coproc); c != nil {
		return c.Count * m.facts.Rules.multiplier()
	}
	return m.cpus
}
