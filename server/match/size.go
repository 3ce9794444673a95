package match

import (
	"math"
	"time"

	"github.com/starling-grid/starling/server/store"
)

// patience is the time that a result is kept for hosts of the right speed. After that any eligible
// host gets it.
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

// Off returns how far a candidate's time on this host, from its start to its end, is from the
// target time of its application's results (store.App.TaskTime). It returns 0 if the time is near
// the target or does not matter, and one more for each factor of two.
//
// BOINC has size classes for this. There the submitter chooses the class of the work, and the class
// of a host follows from its speed relative to all hosts (tools/size_census,
// sched/sched_score.cpp). The estimates serve the same purpose here, for each host with its learned
// run times.
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
