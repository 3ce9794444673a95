package sim

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/starling-grid/starling/contact"
	"github.com/starling-grid/starling/decide"
	"github.com/starling-grid/starling/jobsched"
	"github.com/starling-grid/starling/workfetch"
)

// midnight is the beginning of virtual time.
var midnight = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// A World is a scenario on its way.
type World struct {
	scenario Scenario
	seed     int64
	rng      *rand.Rand
	now      time.Time
	end      time.Time
	onFrac   float64

	projects []project
	jobs     []*job // held: queued, running, or finished and not reported
	passed   time.Time
	usage    []float64 // CPU-seconds of each project since the last pass
	tally    tally
	watch    Watcher
}

// A Watcher sees a world go by: each pass, and each stretch of computing.
type Watcher interface {
	Passed(s decide.Snapshot, p decide.Plan)
	Computed(from, to time.Time, running []string, projects []int)
}

// A project is what the agent knows of a project, and what its server does.
type project struct {
	Project
	debt    float64
	contact contact.State
	backoff workfetch.Backoff
	est     jobsched.Estimator
	sent    int // jobs the server has sent
	latency time.Duration
}

// Run plays a scenario with a seed for its whole duration, or days if that is
// above 0, and returns its figures of merit. watch may be nil.
func Run(s Scenario, seed int64, days float64, watch Watcher) Figures {
	if days <= 0 {
		days = s.DurationDays
	}
	n := len(s.Projects)
	w := &World{
		scenario: s, seed: seed, rng: rand.New(rand.NewPCG(uint64(seed), 1)), //nolint:gosec // any number is a seed
		now: midnight, passed: midnight, end: midnight.Add(time.Duration(days * 24 * float64(time.Hour))),
		usage: make([]float64, n), onFrac: 1, watch: watch,
		tally: tally{used: make([]float64, n), gap: make([]float64, n), gapSquares: make([]float64, n)},
	}
	if s.Host.On.Kind == "daily" {
		w.onFrac = (s.Host.On.ToH - s.Host.On.FromH) / 24
	}
	for _, p := range s.Projects {
		w.projects = append(w.projects, project{Project: p})
	}
	for w.now.Before(w.end) {
		w.step()
	}
	return w.figures()
}

// step does what is to be done now and moves to the next instant at which
// something happens.
func (w *World) step() {
	if !w.on() {
		w.pause()
		w.now = w.nextBoundary()
		w.passed = w.now // time asleep counts for nobody
		return
	}
	w.finishJobs()
	wake := w.decide()
	for _, j := range w.jobs {
		if j.running {
			t := w.now.Add(time.Duration(j.left/w.scenario.Host.FlopsPerCPU*float64(time.Second)) + time.Microsecond)
			wake = earlier(wake, t)
		}
	}
	wake = earlier(earlier(wake, w.nextBoundary()), w.end)
	if !wake.After(w.now) {
		wake = w.now.Add(time.Second)
	}
	w.compute(wake)
	w.now = wake
}

// decide makes passes and holds the sessions they ask for, one after the other,
// until nothing is left to say; then it starts and stops what the last pass said.
// It returns when to decide again.
func (w *World) decide() time.Time {
	for range 10 * len(w.projects) {
		s := w.snapshot()
		plan := decide.Pass(s)
		w.passed = w.now
		clear(w.usage)
		if w.watch != nil {
			w.watch.Passed(s, plan)
		}
		for i, p := range plan.Projects {
			w.projects[i].debt = p.Debt
		}
		i := slices.IndexFunc(plan.Projects, func(p decide.ProjectPlan) bool { return p.Session.Kind != decide.None })
		if i < 0 {
			w.run(plan)
			return earlier(plan.Again, w.now.Add(10*time.Minute))
		}
		w.session(i, plan)
	}
	return w.now.Add(time.Minute)
}

// run starts and stops jobs.
func (w *World) run(plan decide.Plan) {
	var kept []*job
	for i, r := range plan.Results {
		j := w.jobs[i]
		if r.GiveUp {
			continue
		}
		kept = append(kept, j)
		j.urgent = r.Urgent
		switch {
		case r.Run() && !j.running:
			j.running, j.started, j.since = true, true, w.now
		case !r.Run() && j.running:
			j.running = false
			w.tally.preemptions++
		}
	}
	w.jobs = kept
}

// snapshot shows the policies what the agent would know.
func (w *World) snapshot() decide.Snapshot {
	p := w.scenario.Prefs
	s := decide.Snapshot{
		Now: w.now, Elapsed: w.now.Sub(w.passed), CPUs: w.cpus(), AllCPUs: w.scenario.Host.NCPUs, Memory: int64(w.scenario.Host.MemMB * (1 << 20)), OnFrac: w.onFrac,
		Low: days(p.WorkBufMinDays), High: days(p.WorkBufMinDays + p.WorkBufAdditionalDays),
		Slice:    time.Duration(p.SwitchIntervalMin * float64(time.Minute)),
		Projects: make([]decide.Project, 0, len(w.projects)), Results: make([]decide.Result, 0, len(w.jobs)),
	}
	for i := range w.projects {
		s.Projects = append(s.Projects, w.showProject(i))
	}
	for _, j := range w.jobs {
		s.Results = append(s.Results, w.showJob(j))
	}
	return s
}

func (w *World) showProject(i int) decide.Project {
	p := &w.projects[i]
	v := decide.Project{
		URL: p.Name, Share: p.Share, Debt: p.debt, Used: w.usage[i],
		Contact: p.contact, Known: true, Schedulers: 1,
		Backoff: p.backoff.NextTry, Estimates: p.est, Corrects: p.MayCorrect, Latency: p.latency,
	}
	if p.sent > 0 {
		v.JobTime = seconds(p.Jobs.FlopsEst / w.scenario.Host.FlopsPerCPU)
	}
	return v
}

func (w *World) showJob(j *job) decide.Result {
	speed := w.scenario.Host.FlopsPerCPU
	r := decide.Result{
		ID: j.id, Project: j.project, Phase: decide.Runnable, Memory: int64(w.projects[j.project].Jobs.MemMB * (1 << 20)),
		Stated:  seconds(w.projects[j.project].Jobs.FlopsEst / speed),
		Elapsed: seconds((j.size - j.left) / speed), Fraction: j.fractionDone(),
		Received: j.sent, Deadline: j.deadline, Completed: j.finished,
		Running: j.running, Started: j.started, Urgent: j.urgent,
	}
	if j.running {
		r.Ran = w.now.Sub(j.since)
	}
	if !j.finished.IsZero() {
		r.Phase = decide.Ready
	}
	return r
}

func (w *World) cpus() int {
	return max(1, int(float64(w.scenario.Host.NCPUs)*w.scenario.Prefs.MaxNCPUsPct/100))
}

// compute lets the running jobs run until a time.
func (w *World) compute(until time.Time) {
	dt := until.Sub(w.now).Seconds()
	running := make([]int, len(w.projects))
	var ids []string
	var of []int
	for _, j := range w.jobs {
		if j.running {
			j.left = max(0, j.left-dt*w.scenario.Host.FlopsPerCPU)
			running[j.project]++
			w.usage[j.project] += dt
			if w.watch != nil {
				ids, of = append(ids, j.id), append(of, j.project)
			}
		}
	}
	if w.watch != nil {
		w.watch.Computed(w.now, until, ids, of)
	}
	w.tally.spend(dt, running)
}

func (w *World) finishJobs() {
	for _, j := range w.jobs {
		if j.running && j.left <= 1 {
			j.running, j.left, j.finished = false, 0, w.now
			p := &w.projects[j.project]
			p.est = p.est.Finished(j.size / p.Jobs.FlopsEst)
		}
	}
}

// pause stops what runs; nothing is lost.
func (w *World) pause() {
	for _, j := range w.jobs {
		j.running = false
	}
}

// on reports whether the computer is on.
func (w *World) on() bool {
	o := w.scenario.Host.On
	if o.Kind != "daily" {
		return true
	}
	h := w.now.Sub(midnight).Hours()
	h -= float64(int(h/24)) * 24
	return o.FromH <= h && h < o.ToH
}

// nextBoundary is when the computer is next turned on or off.
func (w *World) nextBoundary() time.Time {
	o := w.scenario.Host.On
	if o.Kind != "daily" {
		return w.end
	}
	day := w.now.Sub(midnight) / (24 * time.Hour) * (24 * time.Hour)
	for _, h := range []float64{o.FromH, o.ToH, 24 + o.FromH} {
		if t := midnight.Add(day + time.Duration(h*float64(time.Hour))); t.After(w.now) {
			return t
		}
	}
	return w.end
}

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
	p.contact = contact.State{} // no minimum interval of its own, in this world
	w.report(i)
	fetch := plan.Projects[i].Fetch
	if fetch.Code != workfetch.Ask && fetch.Could == 0 {
		return
	}
	got := 0
	if kind != "no_work" {
		got = w.send(i, max(fetch.Seconds, fetch.Could), fetch.Instances, plan.Busy)
	}
	p.backoff = p.backoff.Asked(w.now, got, p.debt > 0, w.rng)
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

// send is the server's part: jobs until the request is filled, as the scenario
// format says.
func (w *World) send(i int, seconds, instances float64, delay time.Duration) int {
	p := &w.projects[i]
	correction := 1.0
	if p.MayCorrect {
		correction = w.ratio(i)
	}
	run := p.Jobs.FlopsEst / w.scenario.Host.FlopsPerCPU * correction
	latency := time.Duration(p.Jobs.LatencyBoundH * float64(time.Hour))
	got := 0
	for seconds > 0 || instances > 0 {
		if delay.Seconds()+run > latency.Seconds() {
			break
		}
		w.jobs = append(w.jobs, newJob(w.seed, i, p, w.now, w.now.Add(latency)))
		p.sent++
		p.latency = latency
		w.tally.jobs++
		got++
		seconds -= run / w.onFrac
		instances--
		delay += time.Duration(run / w.onFrac / float64(w.cpus()) * float64(time.Second))
	}
	return got
}

// ratio is what a server learns about how long its results really take.
func (w *World) ratio(i int) float64 {
	running := 0.0
	for _, j := range w.jobs {
		if j.project == i && j.finished.IsZero() && j.fractionDone() > 0.02 {
			running = max(running, j.size/w.projects[i].Jobs.FlopsEst)
		}
	}
	return w.projects[i].est.Correction(running)
}

// outage returns what is wrong with a project's server now, or "".
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

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

func days(d float64) time.Duration { return time.Duration(d * 24 * float64(time.Hour)) }
