package match

import (
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/hostversion"
	"github.com/starling-grid/starling/server/store"
)

// overQuota returns what is missing if the host has had its share for today of results
// for an app version, with what was taken.
func (m *Match) overQuota(v *store.AppVersion) *Lack {
	quota := m.facts.Rules.DailyResultQuota
	if quota <= 0 {
		return nil
	}
	e := m.standing.Earned[v.ID]
	most := hostversion.Quota(e, quota) * m.cpus
	if e.NJobsToday+m.today[v.ID] < most {
		return nil
	}
	return &Lack{Code: protocol.RefusedQuota, Need: float64(most + 1), Have: float64(most)}
}
