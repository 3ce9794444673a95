package sim

import (
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/starling-grid/starling/contact"
	"github.com/starling-grid/starling/debt"
	"github.com/starling-grid/starling/decide"
	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/jobsched"
	"github.com/starling-grid/starling/prefs"
	"github.com/starling-grid/starling/resource"
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
	habit    jobsched.Habit

	projects []project
	jobs     []*job // held: queued, running, or finished and not reported
	passed   time.Time
	pools    []resource.Pool
	usage    []map[resource.Kind]float64 // seconds of a CPU of each project since the last pass
	tally    tally
	watch    Watcher
}

// A Watcher observes a world: each pass, and each stretch of computing.
type Watcher interface {
	Passed(s decide.Snapshot, p decide.Plan)
	Computed(from, to time.Time, running []string, projects []int)
}

// A project has the agent's data about a project, and the state of its server.
type project struct {
	Project
	debt    float64
	contact contact.State
	met     bool // there was a session
	streams []*stream
}

// A stream is a project's jobs for one kind of processor.
type stream struct {
	Jobs
	index   int            // among the streams of its project
	usage   resource.Usage // of one
	flops   float64        // that one computes in a second
	backoff workfetch.Backoff
	est     jobsched.Estimator
	sent    int // jobs the server has sent
	latency time.Duration
}

// streams returns the streams of a project. The first is for the CPUs.
func (s *Scenario) streams(p Project) []*stream {
	all := []*stream{{Jobs: p.Jobs, flops: s.Host.FlopsPerCPU, usage: resource.Usage{Memory: mb(p.Jobs.MemMB)}}}
	for i, c := range p.Coprocs {
		u := resource.Usage{CPUs: c.CPUs, Memory: mb(c.MemMB), Coproc: &resource.Coproc{Kind: c.Kind, Count: c.Devices}}
		all = append(all, &stream{Jobs: c.Jobs, index: i + 1, flops: s.Host.coproc(c.Kind).Flops * u.Devices(), usage: u})
	}
	return all
}

// kind returns the place of a kind of processor in the ledger.
func (s *Scenario) kind(k resource.Kind) int {
	return 1 + slices.IndexFunc(s.Host.Coprocs, func(c Coproc) bool { return c.Kind == k })
}

// entry returns a project in the ledger of the whole run.
func (s *Scenario) entry(p Project) debt.Project {
	e := debt.Project{Share: p.Share, Counts: true}
	for k := range e.Without {
		e.Without[k] = k > 0 || p.Jobs.FlopsEst == 0
	}
	for _, c := range p.Coprocs {
		e.Without[s.kind(c.Kind)] = false
	}
	return e
}

func mb(n float64) int64 { return int64(n * (1 << 20)) }

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
		onFrac: 1, watch: watch,
		tally: tally{gap: make([]float64, n), gapSquares: make([]float64, n)},
	}
	if s.Host.On.Kind == "daily" {
		w.onFrac = (s.Host.On.ToH - s.Host.On.FromH) / 24
		if s.Host.On.ForecastH == 0 {
			w.habit = s.Host.On.habit()
		}
	}
	for _, p := range s.Projects {
		w.projects = append(w.projects, project{Project: p, streams: s.streams(p)})
		w.usage = append(w.usage, make(map[resource.Kind]float64))
		w.tally.got = append(w.tally.got, s.entry(p))
	}
	for _, c := range s.Host.Coprocs {
		p := resource.Pool{Kind: c.Kind, Weight: c.Flops / s.Host.FlopsPerCPU}
		for n := range c.Count {
			p.Devices = append(p.Devices, resource.Device{Number: n})
		}
		w.pools = append(w.pools, p)
	}
	for w.now.Before(w.end) {
		w.step()
	}
	return w.figures()
}

// step does everything that is due now and moves to the next instant at which something happens.
func (w *World) step() {
	if !w.on() {
		w.pause()
		w.now = w.nextBoundary()
		w.passed = w.now // time asleep is not counted for any project
		return
	}
	w.finishJobs()
	wake := w.decide()
	for _, j := range w.jobs {
		if j.running {
			t := w.now.Add(time.Duration(j.left/j.flops*float64(time.Second)) + time.Microsecond)
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

// decide makes passes and holds the sessions they ask for, one after the other, until there are
// none left. Then it starts and stops jobs according to the last pass. It returns the time of the
// next decision.
func (w *World) decide() time.Time {
	for range 10 * len(w.projects) {
		s := w.snapshot()
		plan := decide.Pass(s)
		w.passed = w.now
		for _, u := range w.usage {
			clear(u)
		}
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
			j.running, j.started, j.since, j.on = true, true, w.now, r.On
		case r.Run() && !slices.Equal(j.on, r.On):
			j.on, j.since = r.On, w.now // it starts again on another device
			w.tally.preemptions++
		case !r.Run() && j.running:
			j.running = false
			w.tally.preemptions++
		}
	}
	w.jobs = kept
}

// snapshot returns the data that the agent would give to the policies.
func (w *World) snapshot() decide.Snapshot {
	p := w.scenario.Prefs
	s := decide.Snapshot{
		Now: w.now, Elapsed: w.now.Sub(w.passed), CPUs: w.cpus(), AllCPUs: w.scenario.Host.NCPUs, Memory: int64(w.scenario.Host.MemMB * (1 << 20)), OnFrac: w.onFrac, Habit: w.habit,
		Low: days(p.WorkBufMinDays), High: days(p.WorkBufMinDays + p.WorkBufAdditionalDays),
		Slice:    time.Duration(p.SwitchIntervalMin * float64(time.Minute)),
		Projects: make([]decide.Project, 0, len(w.projects)), Results: make([]decide.Result, 0, len(w.jobs)),
	}
	s.Forecast = w.scenario.Host.On.forecast(w.now)
	for i, p := range w.pools {
		v := decide.Pool{Pool: p, Forecast: s.Forecast}
		if on := w.scenario.Host.Coprocs[i].On; !on.at(w.now) {
			v.Compute = prefs.Permission{Why: words.Plain("The computer is in use."), Until: on.next(w.now)}
		}
		s.Coprocs = append(s.Coprocs, v)
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
		URL: p.Name, Share: p.Share, Debt: p.debt, Used: w.usage[i][resource.CPU], UsedOn: maps.Clone(w.usage[i]),
		Contact: p.contact, Known: true, Schedulers: 1, Corrects: p.MayCorrect,
	}
	for _, st := range p.streams {
		k := st.usage.Kind()
		of := decide.Stream{
			NoApps: p.met && !st.exists(), Backoff: st.backoff.NextTry, Estimates: st.est, Latency: st.latency, Devices: st.usage.Devices(),
		}
		if st.sent > 0 {
			of.JobTime = seconds(st.FlopsEst / st.flops)
		}
		if k == resource.CPU {
			v.NoCPUApps, v.Backoff, v.Estimates, v.Latency, v.JobTime = of.NoApps, of.Backoff, of.Estimates, of.Latency, of.JobTime
			continue
		}
		if v.Others == nil {
			v.Others = make(map[resource.Kind]decide.Stream)
		}
		v.Others[k] = of
	}
	for _, c := range w.pools {
		if _, has := v.Others[c.Kind]; !has && p.met {
			if v.Others == nil {
				v.Others = make(map[resource.Kind]decide.Stream)
			}
			v.Others[c.Kind] = decide.Stream{NoApps: true}
		}
	}
	return v
}

func (w *World) showJob(j *job) decide.Result {
	r := decide.Result{
		ID: j.id, Project: j.project, Phase: decide.Runnable, Usage: j.usage,
		Stated:  seconds(j.FlopsEst / j.flops),
		Elapsed: seconds((j.size - j.left) / j.flops), Fraction: j.fractionDone(),
		Received: j.received, Deadline: j.deadline, Completed: j.finished,
		Running: j.running, Started: j.started, Urgent: j.urgent,
	}
	if j.running {
		r.Ran = w.now.Sub(j.since)
		if r.Coproc != nil {
			c := *r.Coproc
			c.On = j.on
			r.Coproc = &c
		}
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
	running := make([]debt.PerKind, len(w.projects))
	var ids []string
	var of []int
	for _, j := range w.jobs {
		if j.running {
			speed := j.usage.Speed(w.cpus(), w.pools)
			j.left = max(0, j.left-dt*j.flops)
			running[j.project][w.scenario.kind(j.usage.Kind())] += speed
			w.usage[j.project][j.usage.Kind()] += dt * speed
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
			j.est = j.est.Finished(j.size / j.FlopsEst)
		}
	}
}

// pause stops all running jobs. No work is lost.
func (w *World) pause() {
	for _, j := range w.jobs {
		j.running = false
	}
}

// on reports whether the computer is on.
func (w *World) on() bool { return w.scenario.Host.On.at(w.now) }

// nextBoundary returns the time when the computer, or one of its kinds of processors, is next
// turned on or off.
func (w *World) nextBoundary() time.Time {
	t := earlier(w.end, w.scenario.Host.On.next(w.now))
	for _, c := range w.scenario.Host.Coprocs {
		t = earlier(t, c.On.next(w.now))
	}
	return t
}

// habit returns the habit that an agent would have learned from it.
func (o On) habit() jobsched.Habit {
	h := make(jobsched.Habit, jobsched.HabitHours)
	for i := range h {
		from := float64(i % 24)
		h[i] = max(0, min(from+1, o.ToH)-max(from, o.FromH))
	}
	return h
}

// forecast returns the times of the next hours in which it is off.
func (o On) forecast(now time.Time) (f jobsched.Forecast) {
	if o.ForecastH == 0 {
		return f
	}
	f.Until = now.Add(time.Duration(o.ForecastH * float64(time.Hour)))
	for t := now; t.Before(f.Until); {
		next := earlier(f.Until, o.next(t))
		if !o.at(t) {
			f.Closed = append(f.Closed, jobsched.Closed{Start: t, End: next})
		}
		t = next
	}
	return f
}

// at reports whether it is on.
func (o On) at(now time.Time) bool {
	if o.Kind != "daily" {
		return true
	}
	h := now.Sub(midnight).Hours()
	h -= float64(int(h/24)) * 24
	return o.FromH <= h && h < o.ToH
}

// next returns the time of the next change. If there is none, it is far away.
func (o On) next(now time.Time) time.Time {
	if o.Kind != "daily" {
		return never
	}
	day := now.Sub(midnight) / (24 * time.Hour) * (24 * time.Hour)
	for _, h := range []float64{o.FromH, o.ToH, 24 + o.FromH} {
		if t := midnight.Add(day + time.Duration(h*float64(time.Hour))); t.After(now) {
			return t
		}
	}
	return never
}

// never is after the end of every scenario.
var never = midnight.AddDate(200, 0, 0)

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

func days(d float64) time.Duration { return time.Duration(d * 24 * float64(time.Hour)) }
