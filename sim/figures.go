package sim

import (
	"math"

	"github.com/starling-grid/starling/debt"
	"github.com/starling-grid/starling/resource"
)

// Figures are the figures of merit of a run.
type Figures struct {
	Idle           float64         `json:"idle"`
	Wasted         float64         `json:"wasted"`
	ShareViolation float64         `json:"share_violation"`
	Monotony       float64         `json:"monotony"`
	RPCsPerJob     float64         `json:"rpcs_per_job"`
	FailedRPCs     int             `json:"failed_rpcs"`
	Missed         int             `json:"missed"`
	Met            int             `json:"met"`
	Preemptions    int             `json:"preemptions"`
	Projects       []ProjectFigure `json:"projects"`
}

// A ProjectFigure has the time that a project is owed and got, as fractions of all.
type ProjectFigure struct {
	Name  string  `json:"name"`
	Share float64 `json:"share"`
	Claim float64 `json:"claim"` // the nearest to its share that its kinds of work allow
	Got   float64 `json:"got"`
}

// A tally collects the numbers from which the figures are calculated.
type tally struct {
	onTime      float64        // seconds
	got         []debt.Project // what each got of each kind of processor, in seconds of a CPU
	wasted      float64        // CPU-seconds
	gap         []float64      // seconds since a project last ran
	gapSquares  []float64      // integral of its square
	rpcs, jobs  int
	failed      int
	met, missed int
	preemptions int
}

func (w *World) figures() Figures {
	t, s := &w.tally, w.scenario
	total := t.onTime * resource.Size(w.cpus(), w.pools)
	f := Figures{FailedRPCs: t.failed, Met: t.met, Missed: t.missed, Preemptions: t.preemptions}
	got, shares := 0.0, 0.0
	for i, p := range s.Projects {
		got += t.used(i)
		shares += p.Share
	}
	claims := debt.Claims(t.got)
	if total > 0 {
		f.Idle = math.Max(0, 1-got/total)
		f.Wasted = t.wasted / total
	}
	mean := 0.0
	for i, p := range s.Projects {
		pf := ProjectFigure{Name: p.Name, Share: p.Share / shares}
		if got > 0 {
			pf.Got = t.used(i) / got
			pf.Claim = claims[i] / got
		}
		f.ShareViolation += math.Abs(pf.Got - pf.Claim)
		if t.onTime > 0 {
			mean += math.Sqrt(t.gapSquares[i]/t.onTime) / float64(len(s.Projects))
		}
		f.Projects = append(f.Projects, pf)
	}
	x := mean / (s.Prefs.SwitchIntervalMin * 60 * float64(len(s.Projects)))
	f.Monotony = 1 - 1/(1+x)
	if t.jobs > 0 {
		f.RPCsPerJob = float64(t.rpcs) / (2 * float64(t.jobs))
	}
	return f
}

// used returns the time that a project got.
func (t *tally) used(p int) (sum float64) {
	for _, used := range t.got[p].Used {
		sum += used
	}
	return sum
}

// spend accounts for dt seconds of on-time in which each project had so much of each kind
// of processor, in CPUs.
func (t *tally) spend(dt float64, running []debt.PerKind) {
	t.onTime += dt
	for p := range t.gap {
		if running[p] != (debt.PerKind{}) {
			for k, n := range running[p] {
				t.got[p].Used[k] += dt * n
			}
			t.gap[p] = 0
			continue
		}
		g := t.gap[p]
		t.gapSquares[p] += dt * (g*g + g*dt + dt*dt/3)
		t.gap[p] = g + dt
	}
}

// Mean averages the figures of several runs of one scenario. Counts are rounded down. There must be
// at least one run.
func Mean(runs []Figures) Figures {
	n := float64(len(runs))
	m := Figures{Projects: make([]ProjectFigure, len(runs[0].Projects))}
	for _, r := range runs {
		m.Idle += r.Idle / n
		m.Wasted += r.Wasted / n
		m.ShareViolation += r.ShareViolation / n
		m.Monotony += r.Monotony / n
		m.RPCsPerJob += r.RPCsPerJob / n
		m.FailedRPCs += r.FailedRPCs
		m.Missed += r.Missed
		m.Met += r.Met
		m.Preemptions += r.Preemptions
		for i, p := range r.Projects {
			m.Projects[i].Name, m.Projects[i].Share = p.Name, p.Share
			m.Projects[i].Claim += p.Claim / n
			m.Projects[i].Got += p.Got / n
		}
	}
	m.FailedRPCs /= len(runs)
	m.Missed /= len(runs)
	m.Met /= len(runs)
	m.Preemptions /= len(runs)
	return m
}
