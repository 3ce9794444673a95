package agent

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/starling-grid/starling/contact"
	"github.com/starling-grid/starling/decide"
	"github.com/starling-grid/starling/executor"
	"github.com/starling-grid/starling/internal/logflag"
	"github.com/starling-grid/starling/jobsched"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/state"
)

// unsaved is how much computing since the last checkpoint is worth waiting for
// the next one.
const unsaved = 30 * time.Second

// look gathers what the policies are shown. Projects and results stand in the
// order of their keys, which are returned.
func (a *Agent) look(now time.Time) (s decide.Snapshot, urls, keys []string) {
	c := a.conditions(now)
	h, _ := a.db.Hosts.Get(state.Self)
	inUse := a.prefs.InUse(c)
	s = decide.Snapshot{
		Now: now.Round(0), Elapsed: now.Sub(a.debts.settled), Version: a.cfg.Version,
		CPUs: a.prefs.CPUs(a.host.NCPUs, inUse), AllCPUs: a.host.NCPUs,
		Memory: a.prefs.Memory(int64(a.host.MemBytes), inUse), OnFrac: a.up.times.On * a.up.times.Active,
		Low: a.prefs.LowWater(), High: a.prefs.HighWater(), Slice: a.prefs.Slice(),
		Eager:   a.settings.ReportResultsImmediately,
		Compute: a.prefs.MayCompute(c, h.RunMode), Network: a.prefs.MayTransfer(c, h.NetMode),
	}
	s.Compute = a.diskPermission(s.Compute)
	limits := a.limits(&s)
	index := make(map[string]int)
	for u, p := range a.db.Projects.All() {
		index[u] = len(urls)
		urls = append(urls, u)
		s.Projects = append(s.Projects, a.showToPolicy(p))
	}
	progress := a.progress()
	for key, r := range a.db.Results.All() {
		keys = append(keys, key)
		v := a.describe(r, index[r.Project], progress, now)
		v.Under = limits(r)
		s.Results = append(s.Results, v)
	}
	return s, urls, keys
}

// limits puts the volunteer's limits on tasks at once into a snapshot, and returns
// which of them a result is under.
func (a *Agent) limits(s *decide.Snapshot) func(state.Result) []int {
	index := make(map[string]int)
	add := func(key, name string, most int) {
		if most > 0 {
			index[key] = len(s.Limits)
			s.Limits = append(s.Limits, jobsched.Limit{Name: name, Max: most})
		}
	}
	for _, u := range slices.Sorted(maps.Keys(a.accounts)) {
		acc := a.accounts[u]
		add(u, "max_concurrent for "+u, acc.MaxConcurrent)
		for _, app := range acc.Apps {
			add(state.Key(u, app.Name), "max_concurrent for application "+app.Name+" of "+u, app.MaxConcurrent)
		}
	}
	return func(r state.Result) (under []int) {
		if len(index) == 0 {
			return nil
		}
		unit, _ := a.db.Units.Get(state.Key(r.Project, r.WorkunitName))
		for _, key := range []string{r.Project, state.Key(r.Project, unit.AppName)} {
			if i, ok := index[key]; ok {
				under = append(under, i)
			}
		}
		return under
	}
}

// showToPolicy describes a project.
func (a *Agent) showToPolicy(p state.Project) decide.Project {
	u := p.MasterURL
	acc := a.accounts[u]
	v := decide.Project{
		URL: u, Share: acc.ResourceShare, Debt: a.debts.of[u], Used: a.debts.used[u],
		Suspended: acc.Suspended, NoMoreWork: acc.NoMoreWork, Leaving: a.leaving[u],
		Contact: contactOf(p), Known: p.Contact.Initialized, Schedulers: len(p.SchedulerURLs),
		NextRPC: p.Contact.NextRPCTime, Asked: a.asked[u], Trickles: a.letters[u], Talking: a.talking[u] != "",
		Backoff: p.Fetch.NextTry, BackoffWhy: p.Fetch.Why, NoCPUApps: slices.Contains(p.NoRscApps, "CPU"),
		JobTime: a.stated(p.JobVersion, p.JobFpops), Latency: p.Latency, Estimates: jobsched.Estimator(p.Estimates),
	}
	for _, t := range a.moving {
		if t.file.Project == u && t.file.Output && t.since.After(v.Uploading) {
			v.Uploading = t.since.Round(0)
		}
	}
	return v
}

// describe describes a result.
func (a *Agent) describe(r state.Result, project int, progress map[string]executor.Progress, now time.Time) decide.Result {
	version, _ := a.db.Versions.Get(r.Version)
	unit, _ := a.db.Units.Get(state.Key(r.Project, r.WorkunitName))
	app := a.accounts[r.Project].App(unit.AppName)
	v := decide.Result{
		ID: r.Name, Project: project, Phase: phase(r), CPUs: cmp.Or(app.AvgNCPUs, version.AvgNCPUs), Memory: int64(unit.RscMemoryBound),
		Stated: a.stated(r.Version, unit.RscFpopsEst), Elapsed: r.Checkpoint.Elapsed, Fraction: r.Checkpoint.Fraction,
		Received: r.Received, Deadline: r.ReportDeadline, Completed: r.Completed,
		Immediately: r.ReportImmediately || app.ReportImmediately, Suspended: r.Suspended,
		Started: !r.Started.IsZero(), Urgent: r.Urgent, NotBefore: r.NotBefore,
	}
	if p, ok := progress[taskID(r)]; ok {
		v.Elapsed, v.Fraction = max(v.Elapsed, p.Elapsed), max(v.Fraction, p.Fraction)
		if p.WorkingSet > 0 {
			v.Memory = p.WorkingSet
		}
		v.Unsaved = p.CPUTime-p.CheckpointCPUTime > unsaved
	}
	if run := a.running[taskID(r)]; run != nil && !run.paused {
		v.Running, v.Ran = true, now.Sub(run.since)
	}
	return v
}

// progress is how far the running results are; nothing if no agent runs.
func (a *Agent) progress() map[string]executor.Progress {
	if a.exec == nil {
		return nil
	}
	return a.exec.Progress()
}

func phase(r state.Result) decide.Phase {
	switch {
	case r.ReadyToReport:
		return decide.Ready
	case r.State == protocol.ClientDownloaded:
		return decide.Runnable
	case r.Computing():
		return decide.Fetching
	default:
		return decide.Sending
	}
}

// stated is how long a result of so many operations computes, by the server's
// word and the speed of this computer.
func (a *Agent) stated(version string, fpops float64) time.Duration {
	return protocol.Seconds(fpops / a.speed(version))
}

// speed is how many operations a second an app version is expected to do here.
func (a *Agent) speed(version string) float64 {
	v, _ := a.db.Versions.Get(version)
	flops := v.Flops
	if flops <= 0 {
		flops = a.host.Fpops * max(v.AvgNCPUs, 1)
	}
	return max(flops, 1e6)
}

// learn is what is known of a project's estimates after a result is finished.
func (a *Agent) learn(p state.Project, r state.Result) state.Estimates {
	u, _ := a.db.Units.Get(state.Key(r.Project, r.WorkunitName))
	whole := a.stated(r.Version, u.RscFpopsEst)
	if whole <= 0 {
		return p.Estimates
	}
	learnt := jobsched.Estimator(p.Estimates).Finished(r.Elapsed.Seconds() / whole.Seconds())
	a.log.Debug("estimate compared", logflag.Key, logflag.DCF, "result", r.Name, "stated", whole, "took", r.Elapsed, "before", fmt.Sprintf("%+v", p.Estimates), "now", fmt.Sprintf("%+v", learnt))
	return state.Estimates(learnt)
}

// contactOf and setContact carry what package contact decides on to and from the
// durable record.
func contactOf(p state.Project) contact.State {
	c := p.Contact
	return contact.State{
		Failures: c.NRPCFailures, MasterFailures: c.MasterFailures,
		FetchMaster: c.FetchMaster, MinRPCTime: c.MinRPCTime,
	}
}

func setContact(p *state.Project, c contact.State) {
	p.Contact.NRPCFailures, p.Contact.MasterFailures = c.Failures, c.MasterFailures
	p.Contact.FetchMaster, p.Contact.MinRPCTime = c.FetchMaster, c.MinRPCTime
}
