package agent

import (
	"errors"
	"time"

	"github.com/starling-grid/starling/executor"
	"github.com/starling-grid/starling/jobsched"
	"github.com/starling-grid/starling/protocol"
	schedulerop "github.com/starling-grid/starling/scheduler_op"
	"github.com/starling-grid/starling/state"
)

// unreachableAfter is how many sessions in a row must fail for a project to be
// taken for unreachable.
const unreachableAfter = 3

// unsaved is how much computing since the last checkpoint is worth waiting for
// the next one.
const unsaved = 30 * time.Second

// A look is what the scheduling policies are shown: the projects in a fixed
// order, and their unfinished results.
type look struct {
	urls    []string
	index   map[string]int
	jobs    []jobsched.Job
	results []state.Result // of the jobs, in their order
	keys    []string
}

// look gathers it. Results that only wait for files count as jobs only if
// waiting is set: they are queued, but cannot run.
func (a *Agent) look(waiting bool) look {
	l := look{index: make(map[string]int)}
	for u := range a.db.Projects.All() {
		l.index[u] = len(l.urls)
		l.urls = append(l.urls, u)
	}
	progress := a.exec.Progress()
	for key, r := range a.db.Results.All() {
		can := r.State == protocol.ClientDownloaded || waiting && r.Computing()
		if r.ReadyToReport || a.leaving[r.Project] || !can {
			continue
		}
		v, _ := a.db.Versions.Get(r.Version)
		j := jobsched.Job{
			ID: key, Project: l.index[r.Project], CPUs: v.AvgNCPUs, Remaining: a.remaining(r, progress),
			Deadline: r.ReportDeadline, Received: r.Received, Started: !r.Started.IsZero(),
			Urgent: r.Urgent, NotBefore: r.NotBefore,
		}
		if run := a.running[taskID(r)]; run != nil {
			p := progress[taskID(r)]
			j.Running, j.Since = true, run.since
			j.Unsaved = p.CPUTime-p.CheckpointCPUTime > unsaved
		}
		l.jobs = append(l.jobs, j)
		l.results = append(l.results, r)
		l.keys = append(l.keys, key)
	}
	return l
}

// schedule starts and stops applications as jobsched decides.
func (a *Agent) schedule(now time.Time, w *waker) {
	l := a.look(false)
	s := jobsched.Snapshot{Now: now, CPUs: a.cpus(), Slice: a.prefs.Slice(), Jobs: l.jobs}
	for _, u := range l.urls {
		p, _ := a.db.Projects.Get(u)
		s.Projects = append(s.Projects, jobsched.Project{Debt: a.debts.of[u], Unreachable: unreachable(p)})
	}
	reasons, again := jobsched.Choose(s)
	w.by(again)
	clear(a.jobs)
	for i, reason := range reasons {
		r, key := l.results[i], l.keys[i]
		a.jobs[key] = reason
		if reason.Urgent != r.Urgent {
			r.Urgent = reason.Urgent
			a.save(func(tx *state.Tx) { a.db.Results.Put(tx, key, r) })
		}
		switch run := reason.Run(); {
		case run && !l.jobs[i].Running:
			a.start(key, r, now)
		case !run && l.jobs[i].Running:
			if err := a.exec.Quit(taskID(r)); err != nil && !errors.Is(err, executor.ErrNotRunning) {
				a.log.Warn("cannot stop a task", "result", r.Name, "error", err)
			}
		}
	}
}

// unreachable reports whether a project's servers have not answered for a while.
func unreachable(p state.Project) bool {
	return p.Contact.NRPCFailures >= unreachableAfter || p.Contact.FetchMaster && p.Contact.Initialized
}

// stated is how long a result of so many operations computes, by the server's
// word and the speed of this computer.
func (a *Agent) stated(version string, fpops float64) time.Duration {
	v, _ := a.db.Versions.Get(version)
	flops := v.Flops
	if flops <= 0 {
		flops = a.host.Fpops * max(v.AvgNCPUs, 1)
	}
	return protocol.Seconds(fpops / max(flops, 1e6))
}

// remaining is how long a result still computes, by its estimate, what is known
// of its project's estimates, and its own progress.
func (a *Agent) remaining(r state.Result, progress map[string]executor.Progress) time.Duration {
	if !r.Computing() {
		return 0
	}
	u, _ := a.db.Units.Get(state.Key(r.Project, r.WorkunitName))
	whole := float64(a.stated(r.Version, u.RscFpopsEst)) * a.correction(r.Project, progress)
	elapsed, fraction := r.Checkpoint.Elapsed, r.Checkpoint.Fraction
	if p, ok := progress[taskID(r)]; ok {
		elapsed, fraction = max(elapsed, p.Elapsed), max(fraction, p.Fraction)
	}
	return jobsched.Remaining(time.Duration(whole), elapsed, fraction)
}

// correction is how long a project's results really take, relative to what its
// server states, as far as is known.
func (a *Agent) correction(project string, progress map[string]executor.Progress) float64 {
	p, _ := a.db.Projects.Get(project)
	running := 0.0
	if p.Estimates.Results == 0 {
		for _, r := range a.db.Results.Of(project) {
			if run, ok := progress[taskID(r)]; ok && run.Fraction > 0.02 {
				u, _ := a.db.Units.Get(state.Key(project, r.WorkunitName))
				if whole := a.stated(r.Version, u.RscFpopsEst); whole > 0 {
					running = max(running, run.Elapsed.Seconds()/run.Fraction/whole.Seconds())
				}
			}
		}
	}
	return jobsched.Estimator(p.Estimates).Correction(running)
}

// learn is what is known of a project's estimates after a result is finished.
func (a *Agent) learn(p state.Project, r state.Result) state.Estimates {
	u, _ := a.db.Units.Get(state.Key(r.Project, r.WorkunitName))
	whole := a.stated(r.Version, u.RscFpopsEst)
	if whole <= 0 {
		return p.Estimates
	}
	return state.Estimates(jobsched.Estimator(p.Estimates).Finished(r.Elapsed.Seconds() / whole.Seconds()))
}

// giveUpLate aborts results whose deadline passed before they were started:
// computing them would only take time from others.
func (a *Agent) giveUpLate(now time.Time) {
	for key, r := range a.db.Results.All() {
		if r.ReadyToReport || !r.Computing() || !r.Started.IsZero() || r.ReportDeadline.IsZero() || now.Before(r.ReportDeadline) {
			continue
		}
		a.move(key, r, state.AbortRequested, func(r *state.Result) {
			r.ExitStatus, r.Message = protocol.ExitUnstartedLate, "not started by its deadline"
			r.Stderr = errorReport(r.Message, "")
			r.Ready(now)
		})
	}
}

// finishedOf describes a result that is ready to be reported.
func finishedOf(r state.Result) schedulerop.Finished {
	return schedulerop.Finished{
		Deadline: r.ReportDeadline, Completed: r.Completed, Received: r.Received, Immediately: r.ReportImmediately,
	}
}
