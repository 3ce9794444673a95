package modeltest

import (
	"slices"
	"time"

	"github.com/starling-grid/starling/server/match"
)

// tally has the work sent to applications: results, seconds of CPUs, and the largest number of
// seconds of CPUs over its weight of one result.
type tally struct {
	results map[*app]int
	seconds map[*app]float64
	most    float64
}

func newTally() tally { return tally{results: make(map[*app]int), seconds: make(map[*app]float64)} }

func (t *tally) add(a *app, x match.Assignment) {
	cost := max(x.Duration.Seconds(), 1) * x.Usage.NCPUs // a result counts as a second at least
	t.results[a]++
	t.seconds[a] += cost
	t.most = max(t.most, cost/a.share())
}

// sharers is the number of results that each application has while they share.
const sharers = 12

// share makes new computers take work one result at a time while every application has some. It
// checks that the applications share the computing time by their weights: the time sent to one over
// its weight never differs from another's by more than one result.
func (w *world) share() {
	i := slices.IndexFunc(machines, func(m machine) bool {
		return !slices.ContainsFunc(w.apps, func(a *app) bool { return !m.serves(a) })
	})
	if len(w.apps) < 2 || i < 0 || w.failed {
		return
	}
	n, fresh := len(w.hosts), w.sched.Feeder.Fresh
	w.drain, w.sched.Feeder.Fresh = true, 0 // or some of the work would not be seen for long
	defer func() { w.drain, w.hosts, w.sched.Feeder.Fresh = false, w.hosts[:n], fresh }()
	w.now = w.now.Add(7 * 24 * time.Hour) // work sent to them before does not count any more
	for _, a := range w.apps {
		x := spec{app: a, m: 1, n: 1, c: 5, b: 9, a: 5, delay: 100 * time.Hour, need: w.drawNeed()}
		for range sharers {
			w.insert(x)
		}
	}
	w.pass(0, transition)
	w.sent = newTally()
	for !w.failed && !slices.ContainsFunc(w.apps, func(a *app) bool { return w.sent.results[a] == sharers }) {
		h := w.addHost(w.addUser(), manner{})
		h.machine, h.size = &machines[i], large
		h.gpus = 0     // of each kind of processor it would get one
		w.rpc(h, 0.01) // one result, however fast it is
		if len(h.have) != 1 {
			w.failf("a new computer gets %d results, want 1", len(h.have))
		}
		for _, a := range w.apps {
			for _, b := range w.apps {
				x, y := w.sent.seconds[a]/a.share(), w.sent.seconds[b]/b.share()
				if x-y > w.sent.most*1.000001 {
					w.failf("application %s was sent %g s over its weight and %s %g s; no result has more than %g s", a.name, x, b.name, y, w.sent.most)
				}
			}
		}
		for range h.have {
			w.compute(h)
		}
		w.rpc(h, 0)
	}
}

// serves reports whether computers of a kind can have work of an application for their
// CPUs, if they are large.
func (m *machine) serves(a *app) bool {
	return (a.hr == 0 || m.class(a) != "") && slices.ContainsFunc(a.versions, func(v *version) bool {
		return !v.gone && !onGPU(v.class) && slices.Contains(m.platforms, v.platform)
	})
}
