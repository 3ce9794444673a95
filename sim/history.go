package sim

import (
	"slices"
	"time"

	"github.com/starling-grid/starling/decide"
	"github.com/starling-grid/starling/reason"
)

// A History watches a world and keeps the data for a page about it.
type History struct {
	// Sample is the minimum time between two points of a curve. 0 keeps all points.
	Sample time.Duration

	stretches []stretch
	lanes     []string // the job on each CPU
	open      map[string]int
	points    []point
	last      time.Time
	asked     []event
}

// A stretch is a job's time on a CPU without a break.
type stretch struct {
	lane     int
	project  int
	job      string
	from, to time.Time
}

// A point has the values that a pass saw and decided.
type point struct {
	at    time.Time
	debts []float64 // of each project, CPU-seconds
	queue []float64 // likewise
	low   float64   // marks of the queue, CPU-seconds
	high  float64
}

// An event is a session with a server.
type event struct {
	at      time.Time
	project int
	why     string
	fetch   bool
}

// Passed keeps a point, if it is time for one.
func (h *History) Passed(s decide.Snapshot, p decide.Plan) {
	for i, pr := range p.Projects {
		if pr.Session.Kind != decide.None {
			h.asked = append(h.asked, event{s.Now, i, pr.Session.Why.String(), pr.Fetch.Code == reason.Ask})
			break
		}
	}
	if !h.last.IsZero() && s.Now.Sub(h.last) < h.Sample {
		return
	}
	h.last = s.Now
	cpus := float64(s.CPUs) * max(s.OnFrac, 0.01)
	pt := point{at: s.Now, low: s.Low.Seconds() * cpus, high: s.High.Seconds() * cpus}
	pt.debts, pt.queue = make([]float64, len(s.Projects)), make([]float64, len(s.Projects))
	for i, pr := range p.Projects {
		pt.debts[i] = pr.Debt
	}
	for i, r := range s.Results {
		pt.queue[r.Project] += p.Results[i].Remaining.Seconds() * max(r.CPUs, 1)
	}
	h.points = append(h.points, pt)
}

// Computed records which jobs used the CPUs.
func (h *History) Computed(from, to time.Time, running []string, projects []int) {
	if h.open == nil {
		h.open = make(map[string]int)
	}
	for i, job := range h.lanes {
		if job != "" && !slices.Contains(running, job) {
			h.lanes[i] = ""
			delete(h.open, job)
		}
	}
	for i, job := range running {
		if n, ok := h.open[job]; ok && h.stretches[n].to.Equal(from) {
			h.stretches[n].to = to
			continue
		}
		lane := slices.Index(h.lanes, job)
		if lane < 0 {
			lane = slices.Index(h.lanes, "")
		}
		if lane < 0 {
			lane = len(h.lanes)
			h.lanes = append(h.lanes, "")
		}
		h.lanes[lane] = job
		h.open[job] = len(h.stretches)
		h.stretches = append(h.stretches, stretch{lane, projects[i], job, from, to})
	}
}
