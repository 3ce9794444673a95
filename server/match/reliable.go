package match

import (
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/hostversion"
	"github.com/starling-grid/starling/server/store"
)

// unreliable returns what is missing if the host's record with an app version is too bad
// for a candidate: whoever keeps failing is not given the last chance of a workunit.
//
// Different from BOINC, where a bad record lowers the daily quota and nothing else.
func (m *Match) unreliable(c *store.Candidate, v *store.AppVersion) *Lack {
	if c.LastChance && hostversion.Bad(m.standing.Earned[v.ID]) {
		return &Lack{Code: protocol.RefusedUnreliable}
	}
	return nil
}
