package match

import (
	"math"
	"time"

	"github.com/starling-grid/starling/server/store"
)

// patience is how long a result is kept for hosts of the right speed. Then it goes to whoever
// may have it.
const patience = 24 * time.Hour

// Sized reports whether it matters for some application how large a result is for the host.
func (h *Host) Sized() bool {
	for id := range h.versions {
		if h.facts.Catalog.Apps[id].TaskTime > 0 {
			return true
		}
	}
	return false
}

// Off returns how far a candidate's time on this host, from its start to its end, is from what a
// result of its application should take (store.App.TaskTime): 0 if it is near, or does not
// matter, and one more for each factor of two.
//
// BOINC has size classes for this, which whoever submits work chooses, and hosts have by where
// they stand among all in speed (tools/size_census, sched/sched_score.cpp). The estimates say
// the same here, for each host with what it has learnt.
func (m *Match) Off(c *store.Candidate) int {
	want := m.facts.Catalog.Apps[c.AppID].TaskTime
	if want <= 0 || m.facts.Now.Sub(c.CreateTime) >= patience {
		return 0
	}
	v, _ := m.fit(c)
	if v == nil {
		return 0
	}
	u, _ := m.Usage(v)
	took := max(m.duration(c.RscFpopsEst, u), time.Millisecond)
	return int(math.Round(math.Abs(math.Log2(float64(took) / float64(want)))))
}
