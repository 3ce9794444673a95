package sim

import (
	"slices"
	"time"

	"github.com/starling-grid/starling/contact"
	"github.com/starling-grid/starling/decide"
	"github.com/starling-grid/starling/resource"
)

// session holds a session with a project's server.
func (w *World) session(i int, plan decide.Plan) {
	p := &w.projects[i]
	kind := w.outage(i)
	master := plan.Projects[i].Session.Kind == decide.Master
	switch {
	case kind == "down" && master:
		w.tally.failed++
		p.contact = p.contact.MasterFailed(w.now, w.rng)
		return
	case kind == "down":
		w.tally.failed++
		p.contact = p.contact.Failed(w.now, w.rng)
		return
	case master:
		p.contact = p.contact.MasterFetched(false)
		return
	}
	w.tally.rpcs++
	p.contact = contact.State{} // without a minimum interval, in this world
	p.met = true
	w.report(i)
	fetch := plan.Projects[i].Fetch
	for _, st := range p.streams {
		asked, busy := fetch, plan.Busy
		if k := st.usage.Kind(); k != resource.CPU {
			asked, busy = fetch.Of(k), plan.BusyOf(k)
		}
		seconds, instances := asked.Wanted()
		if seconds == 0 && instances == 0 {
			continue
		}
		got := 0
		if kind != "no_work" && st.exists() {
			got = w.send(i, st, seconds, instances, busy)
		}
		if !asked.Along || got > 0 {
			st.backoff = st.backoff.Asked(w.now, got, p.debt > 0, w.rng)
		}
	}
}

// report hands in all finished jobs of a project.
func (w *World) report(i int) {
	w.jobs = slices.DeleteFunc(w.jobs, func(j *job) bool {
		if j.project != i || j.finished.IsZero() {
			return false
		}
		if w.now.After(j.deadline) {
			w.tally.missed++
			w.tally.wasted += j.size / w.scenario.Host.FlopsPerCPU
		} else {
			w.tally.met++
		}
		return true
	})
}

// send does the server's part: it sends jobs until the request is filled, as described in the
// scenario format.
func (w *World) send(i int, st *stream, seconds, instances float64, delay time.Duration) int {
	p := &w.projects[i]
	correction := 1.0
	if p.MayCorrect {
		correction = w.ratio(st)
	}
	run := st.FlopsEst / st.flops * correction
	count, devices := w.cpus(), 1.0
	if st.usage.Coproc != nil {
		count, devices = len(resource.Find(w.pools, st.usage.Kind()).Devices), st.usage.Devices()
	}
	latency := time.Duration(st.LatencyBoundH * float64(time.Hour))
	got := 0
	for seconds > 0 || instances > 0 {
		if delay.Seconds()+run > latency.Seconds() {
			break
		}
		w.jobs = append(w.jobs, newJob(w.seed, i, p, st, w.now, w.now.Add(latency)))
		st.sent++
		st.latency = latency
		w.tally.jobs++
		got++
		seconds -= run * devices / w.onFrac
		instances -= devices
		delay += time.Duration(run * devices / w.onFrac / float64(count) * float64(time.Second))
	}
	return got
}

// ratio returns a server's estimate of actual over stated computing times of its results.
func (w *World) ratio(st *stream) float64 {
	running := 0.0
	for _, j := range w.jobs {
		if j.stream == st && j.finished.IsZero() && j.fractionDone() > 0.02 {
			running = max(running, j.size/st.FlopsEst)
		}
	}
	return st.est.Correction(running)
}

// outage returns the kind of outage of a project's server now, or "".
func (w *World) outage(i int) (kind string) {
	h := w.now.Sub(midnight).Hours()
	for _, o := range w.projects[i].Outages {
		at := h - o.StartH
		if at >= 0 && o.RepeatH > 0 {
			at -= float64(int(at/o.RepeatH)) * o.RepeatH
		}
		if at >= 0 && at < o.LengthH && kind != "down" {
			kind = o.Kind
		}
	}
	return kind
}
