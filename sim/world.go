package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/starling-grid/starling/debt"
	"github.com/starling-grid/starling/jobsched"
	schedulerop "github.com/starling-grid/starling/scheduler_op"
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
	settled  time.Time
	usage    []float64 // CPU-seconds of each project since the last settling
	tally    tally
}

// A project is what the agent knows of a project, and what its server does.
type project struct {
	Project
	debt    float64
	contact schedulerop.Contact
	down    int // failed sessions since the last success
	backoff time.Time
	fetch   int // requests in a row that brought nothing
	est     jobsched.Estimator
	sent    int // jobs the server has sent
	latency time.Duration
}

// Run plays a scenario with a seed for its whole duration, or days if that is
// above 0, and returns its figures of merit.
func Run(s Scenario, seed int64, days float64) Figures {
	if days <= 0 {
		days = s.DurationDays
	}
	n := len(s.Projects)
	w := &World{
		scenario: s, seed: seed, rng: rand.New(rand.NewPCG(uint64(seed), 1)), //nolint:gosec // any number is a seed
		now: midnight, settled: midnight, end: midnight.Add(time.Duration(days * 24 * float64(time.Hour))),
		usage: make([]float64, n), onFrac: 1,
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
		w.settled = w.now // time asleep counts for nobody
		return
	}
	w.finishJobs()
	w.giveUpLate()
	w.settle()
	wake := w.converse()
	if t := w.schedule(); t.Before(wake) {
		wake = t
	}
	for _, j := range w.jobs {
		if j.running {
			t := w.now.Add(time.Duration(j.left/w.scenario.Host.FlopsPerCPU*float64(time.Second)) + time.Microsecond)
			if t.Before(wake) {
				wake = t
			}
		}
	}
	if t := w.nextBoundary(); t.Before(wake) {
		wake = t
	}
	if w.end.Before(wake) {
		wake = w.end
	}
	if !wake.After(w.now) {
		wake = w.now.Add(time.Second)
	}
	w.compute(wake.Sub(w.now).Seconds())
	w.now = wake
}

func (w *World) cpus() int {
	return max(1, int(float64(w.scenario.Host.NCPUs)*w.scenario.Prefs.MaxNCPUsPct/100))
}

// compute lets the running jobs run for dt seconds.
func (w *World) compute(dt float64) {
	running := make([]int, len(w.projects))
	for _, j := range w.jobs {
		if j.running {
			j.left = max(0, j.left-dt*w.scenario.Host.FlopsPerCPU)
			running[j.project]++
			w.usage[j.project] += dt
		}
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

// giveUpLate aborts jobs whose deadline passed before they were started.
func (w *World) giveUpLate() {
	w.jobs = slices.DeleteFunc(w.jobs, func(j *job) bool { return !j.started && w.now.After(j.deadline) })
}

// settle brings the debts up to date.
func (w *World) settle() {
	ps := make([]debt.Project, len(w.projects))
	for i, p := range w.projects {
		ps[i] = debt.Project{Debt: p.debt, Share: p.Share, Counts: true, Used: w.usage[i]}
	}
	for i, d := range debt.Settle(ps, w.now.Sub(w.settled), w.cpus()) {
		w.projects[i].debt = d
	}
	clear(w.usage)
	w.settled = w.now
}

// schedule has jobsched choose what runs.
func (w *World) schedule() (again time.Time) {
	jobs, held := w.schedJobs()
	s := jobsched.Snapshot{
		Now: w.now, CPUs: w.cpus(), OnFrac: w.onFrac, Jobs: jobs,
		Slice: time.Duration(w.scenario.Prefs.SwitchIntervalMin * float64(time.Minute)),
	}
	for i := range w.projects {
		s.Projects = append(s.Projects, jobsched.Project{Debt: w.projects[i].debt, Unreachable: w.projects[i].unreachable()})
	}
	reasons, again := jobsched.Choose(s)
	for i, r := range reasons {
		j := held[i]
		j.urgent = r.Urgent
		switch {
		case r.Run() && !j.running:
			j.running, j.started, j.since = true, true, w.now
		case !r.Run() && j.running:
			j.running = false
			w.tally.preemptions++
		}
	}
	return again
}

// schedJobs describes the unfinished jobs to the policies.
func (w *World) schedJobs() ([]jobsched.Job, []*job) {
	var jobs []jobsched.Job
	var held []*job
	for _, j := range w.jobs {
		if !j.finished.IsZero() {
			continue
		}
		jobs = append(jobs, jobsched.Job{
			ID: j.id, Project: j.project, CPUs: 1, Remaining: w.remaining(j), Deadline: j.deadline,
			Received: j.sent, Running: j.running, Since: j.since, Started: j.started, Urgent: j.urgent,
		})
		held = append(held, j)
	}
	return jobs, held
}

// remaining is what the agent believes a job has left.
func (w *World) remaining(j *job) time.Duration {
	speed := w.scenario.Host.FlopsPerCPU
	est := w.projects[j.project].Jobs.FlopsEst / speed * w.ratio(j.project)
	return jobsched.Remaining(seconds(est), seconds((j.size-j.left)/speed), j.fractionDone())
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

// nextBoundary is when the computer next goes on or off.
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

// converse holds the sessions that are due, one after the other, and returns
// when to look again.
func (w *World) converse() time.Time {
	for range 10 * len(w.projects) {
		reasons := w.fetchReasons()
		who := -1
		for i := range w.projects {
			p := &w.projects[i]
			if w.now.Before(p.contact.MinRPCTime) {
				continue
			}
			_, due := schedulerop.ReportDue(w.backlog(i), w.now)
			if due || reasons[i].Code == workfetch.Ask {
				who = i
				break
			}
		}
		if who < 0 {
			return w.nextLook(reasons)
		}
		w.session(who, reasons[who])
	}
	return w.now.Add(time.Minute)
}

// nextLook is the earliest time at which a session may become due.
func (w *World) nextLook(reasons []workfetch.Reason) time.Time {
	at := w.now.Add(10 * time.Minute)
	for i := range w.projects {
		for _, t := range []time.Time{reasons[i].Until, w.projects[i].contact.MinRPCTime} {
			if t.After(w.now) && t.Before(at) {
				at = t
			}
		}
	}
	return at
}

func (w *World) backlog(i int) schedulerop.Backlog {
	b := schedulerop.Backlog{OnFrac: w.onFrac}
	for _, j := range w.jobs {
		switch {
		case j.project != i:
		case j.finished.IsZero():
			b.Unfinished++
		default:
			b.Ready = append(b.Ready, schedulerop.Finished{Deadline: j.deadline, Completed: j.finished, Received: j.sent})
		}
	}
	return b
}

func (w *World) fetchReasons() []workfetch.Reason {
	jobs, _ := w.schedJobs()
	s := workfetch.Snapshot{
		Now: w.now, CPUs: w.cpus(), OnFrac: w.onFrac, Jobs: jobs,
		Low: days(w.scenario.Prefs.WorkBufMinDays), High: days(w.scenario.Prefs.WorkBufMinDays + w.scenario.Prefs.WorkBufAdditionalDays),
	}
	for i := range w.projects {
		p := &w.projects[i]
		fp := workfetch.Project{
			URL: fmt.Sprintf("%02d", i), Share: p.Share, Debt: p.debt, Counts: true,
			MinRPCTime: p.contact.MinRPCTime, Backoff: p.backoff, Latency: p.latency, Proved: w.proved(i), Unreachable: p.unreachable(),
		}
		if p.sent > 0 {
			fp.JobTime = time.Duration(p.Jobs.FlopsEst / w.scenario.Host.FlopsPerCPU * w.ratio(i) * float64(time.Second))
		}
		if !p.MayCorrect {
			fp.Correction = w.ratio(i)
		}
		s.Projects = append(s.Projects, fp)
	}
	return workfetch.Choose(s)
}

// ratio is how long the project's results really take, relative to what its
// server states, as far as is known.
func (w *World) ratio(i int) float64 {
	running := 0.0
	for _, j := range w.jobs {
		if j.project == i && j.fractionDone() > 0.02 {
			running = max(running, j.size/w.projects[i].Jobs.FlopsEst)
		}
	}
	return w.projects[i].est.Correction(running)
}

// proved reports whether the project's estimates have met a real result.
func (w *World) proved(i int) bool {
	if w.projects[i].est.Results > 0 {
		return true
	}
	for _, j := range w.jobs {
		if j.project == i && j.fractionDone() > 0.1 {
			return true
		}
	}
	return false
}

// session is one scheduler RPC.
func (w *World) session(i int, r workfetch.Reason) {
	p := &w.projects[i]
	switch kind := w.outage(i); kind {
	case "down":
		w.tally.failed++
		p.down++
		if p.contact.FetchMaster {
			p.contact = p.contact.MasterFailed(w.now, w.rng)
		} else {
			p.contact = p.contact.Failed(w.now, w.rng)
		}
		return
	default:
		w.tally.rpcs++
		p.down = 0
		p.contact = schedulerop.Contact{} // no minimum interval of its own, in this world
		w.report(i)
		if r.Code != workfetch.Ask && r.Could == 0 {
			return
		}
		got := 0
		if kind != "no_work" {
			got = w.send(i, max(r.Seconds, r.Could), r.Instances)
		}
		if got > 0 {
			p.fetch, p.backoff = 0, time.Time{}
			return
		}
		p.fetch++
		p.backoff = w.now.Add(workfetch.Wait(p.fetch, p.debt > 0, w.rng))
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

// send is the server's part: jobs until the request is filled, as the scenario
// format says.
func (w *World) send(i int, seconds, instances float64) int {
	p := &w.projects[i]
	jobs, _ := w.schedJobs()
	delay := jobsched.BusyTime(w.now, w.cpus(), w.onFrac, jobs)
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
		sz := size(w.seed, i, p.sent, p.Jobs)
		w.jobs = append(w.jobs, &job{
			project: i, id: fmt.Sprintf("%02d-%06d", i, p.sent), size: sz, left: sz, sent: w.now, deadline: w.now.Add(latency),
		})
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

// unreachable: three sessions in a row have failed.
func (p *project) unreachable() bool { return p.down >= 3 }

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

func days(d float64) time.Duration { return time.Duration(d * 24 * float64(time.Hour)) }
