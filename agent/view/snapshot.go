package view

import (
	"maps"
	"math"
	"slices"
	"time"

	"github.com/starling-grid/starling/agent/outcome"
	"github.com/starling-grid/starling/agent/power"
	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/contact"
	"github.com/starling-grid/starling/decide"
	"github.com/starling-grid/starling/executor"
	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/jobsched"
	"github.com/starling-grid/starling/prefs"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/reason"
	"github.com/starling-grid/starling/resource"
	"github.com/starling-grid/starling/state"
)

// unsaved is the minimum computing time since the last checkpoint that is worth waiting for the
// next one.
const unsaved = 30 * time.Second

// Snapshot returns the input of the policies. Projects and results are in the order of their keys.
func (f *Facts) Snapshot() decide.Snapshot {
	c, h := f.Conditions, f.host()
	inUse := f.Prefs.InUse(c)
	s := decide.Snapshot{
		Now: f.Now.Round(0), Elapsed: f.Elapsed, Version: f.Version,
		CPUs: f.Prefs.CPUs(f.Host.NCPUs, inUse), AllCPUs: f.Host.NCPUs, CPUBound: f.Prefs.CPUBound(f.Host.NCPUs, inUse),
		Memory: f.Prefs.Memory(int64(f.Host.MemBytes), inUse), OnFrac: f.Times.OnFrac * f.Times.ActiveFrac, Habit: f.Habit,
		Low: f.Prefs.LowWater(), High: f.Prefs.HighWater(), Slice: f.Prefs.Slice(),
		Eager:   f.Settings.ReportResultsImmediately,
		Compute: f.Prefs.MayCompute(c, h.RunMode), Network: f.Prefs.MayTransfer(c, h.NetMode),
		Drain: f.Drain,
	}
	forecast := func(gpus bool, m prefs.Mode) jobsched.Forecast {
		if m.At(s.Now) == prefs.Always {
			return jobsched.Forecast{}
		}
		return power.Forecast(f.Powers, s.Now, gpus)
	}
	s.Forecast = forecast(false, h.RunMode)
	s.AllMemory, s.AllDisk, s.Duty = int64(f.Host.MemBytes), int64(f.Host.DiskTotal), f.Prefs.Duty(inUse)
	s.Bound, s.Most = f.Prefs.MemoryBound(int64(f.Host.MemBytes), inUse), f.Prefs.MostMemory(int64(f.Host.MemBytes))
	if f.diskKnown() {
		s.Disk = f.Prefs.DiskBound(int64(f.Host.DiskTotal), f.Disk.Free, f.Disk.Used)
	}
	s.Compute = f.disk(s.Compute)
	s.NoEffect = f.noEffect()
	s.Presence = f.presence()
	for _, p := range f.Coprocs.Pools(f.Host.Fpops) {
		s.Coprocs = append(s.Coprocs, decide.Pool{Pool: p, OnFrac: s.OnFrac, Forecast: forecast(true, h.GPUMode), Compute: f.Prefs.MayUseGPUs(c, h.GPUMode)})
	}
	s.Absent = f.Coprocs.Absent
	limits := f.limits(&s)
	index := make(map[string]int)
	for u, p := range f.DB.Projects.All() {
		index[u] = len(s.Projects)
		s.Projects = append(s.Projects, f.project(p))
	}
	for key, r := range f.DB.Results.All() {
		v := f.result(key, r, index[r.Project])
		v.Under = limits(r)
		s.Results = append(s.Results, v)
	}
	return s
}

// limits puts the volunteer's limits on tasks at once into a snapshot, and returns
// which of them a result is under.
func (f *Facts) limits(s *decide.Snapshot) func(state.Result) []int {
	index := make(map[string]int)
	add := func(key string, name words.Text, most int) {
		if most > 0 {
			index[key] = len(s.Limits)
			s.Limits = append(s.Limits, jobsched.Limit{Name: name, Max: most})
		}
	}
	for _, u := range slices.Sorted(maps.Keys(f.Accounts)) {
		acc := f.Accounts[u]
		add(u, words.T("max_concurrent for {url}", "url", u), acc.MaxConcurrent)
		for _, app := range acc.Apps {
			add(state.Key(u, app.Name), words.T("max_concurrent for application {app} of {url}", "app", app.Name, "url", u), app.MaxConcurrent)
		}
	}
	return func(r state.Result) (under []int) {
		if len(index) == 0 {
			return nil
		}
		unit := f.unit(r)
		for _, key := range []string{r.Project, state.Key(r.Project, unit.AppName)} {
			if i, ok := index[key]; ok {
				under = append(under, i)
			}
		}
		return under
	}
}

func (f *Facts) project(p state.Project) decide.Project {
	u := p.MasterURL
	acc := f.Accounts[u]
	v := decide.Project{
		URL: u, Share: acc.ResourceShare, Debt: f.Debts[u], Used: f.Used[u][resource.CPU], UsedOn: usedOn(f.Used[u]),
		Suspended: acc.Suspended, NoMoreWork: acc.NoMoreWork,
		Leaving: p.Ending.Leaves(), Resetting: p.Ending.Kind == state.Resetting, Missing: p.Ending.Kind == state.AccountMissing,
		Contact: Contact(p, f.Now), Trouble: Trouble(p), Known: p.Contact.Initialized, Schedulers: len(p.SchedulerURLs),
		NextRPC: p.Contact.NextRPCTime, Asked: f.Asked[u], Woken: f.Woken[u], Trickles: f.TrickleUps[u],
		Backoff: p.Fetch.NextTry, BackoffWhy: p.Fetch.Why, Failures: p.Fetch.Errors, Failed: outcome.Failed(p), NoCPUApps: slices.Contains(p.NoRscApps, "CPU"),
		JobTime: f.stated(p.JobVersion, p.JobFpops), Latency: p.Latency, Estimates: f.estimates(p.Stream(resource.CPU)),
		Refused: p.Fetch.Refused,
		LeftOut: p.LeftOut, NonCPUIntensive: p.NonCPUIntensive && !p.Light.Overused,
	}
	v.Others = f.streams(p)
	ahead, known := f.Ahead[u]
	v.ClockUnknown, v.Ahead = !known, ahead
	if c, talks := f.Sessions[u]; talks {
		v.Talking, v.TalkingSince, v.ForWork = true, c.Since.Round(0), c.ForWork
	}
	for _, t := range f.Transfers {
		if t.File.Project == u && t.File.Upload() && t.Since.After(v.Uploading) {
			v.Uploading = t.Since.Round(0)
		}
	}
	return v
}

// streams describes a project's work for the coprocessors.
func (f *Facts) streams(p state.Project) map[resource.Kind]decide.Stream {
	if len(f.Coprocs.Groups) == 0 {
		return nil
	}
	all := make(map[resource.Kind]decide.Stream)
	pools, acc := f.Coprocs.Pools(f.Host.Fpops), f.Accounts[p.MasterURL]
	for _, g := range f.Coprocs.Groups {
		s, pool := p.Stream(g.Kind), resource.Find(pools, g.Kind)
		version, _ := f.DB.Versions.Get(s.JobVersion)
		all[g.Kind] = decide.Stream{
			NoApps: slices.Contains(p.NoRscApps, string(g.Kind)), Excluded: excluded(acc, pool), Refused: s.Refused, Backoff: s.NextTry, BackoffWhy: s.Why,
			JobTime: f.stated(s.JobVersion, s.JobFpops), Latency: s.Latency,
			Devices: version.Usage().Devices(), Estimates: f.estimates(s),
		}
	}
	return all
}

// estimates returns the facts learned about a project's last tasks for one kind of processor: from
// results of the same app version or, if it has none yet, from others for that kind.
func (f *Facts) estimates(s state.Stream) jobsched.Estimator {
	if v, _ := f.DB.Versions.Get(s.JobVersion); v.Estimates.Results > 0 {
		return jobsched.Estimator(v.Estimates)
	}
	return jobsched.Estimator(s.Estimates)
}

// excluded reports whether the volunteer keeps all of a project's tasks off all devices of a pool.
func excluded(acc settings.Account, pool resource.Pool) bool {
	off := acc.Excluded("", pool)
	return len(pool.Devices) > 0 && !slices.ContainsFunc(pool.Devices, func(d resource.Device) bool { return !slices.Contains(off, d.Number) })
}

// usedOn returns the time that a project got on coprocessors.
func usedOn(used map[resource.Kind]float64) map[resource.Kind]float64 {
	others := maps.Clone(used)
	if delete(others, resource.CPU); len(others) == 0 {
		return nil
	}
	return others
}

func (f *Facts) result(key string, r state.Result, project int) decide.Result {
	unit := f.unit(r)
	app := f.Accounts[r.Project].App(unit.AppName)
	v := decide.Result{
		ID: r.Name, Project: project, Phase: phase(r),
		Usage:  f.usage(key, r),
		Stated: f.stated(r.Version, unit.RscFpopsEst), Elapsed: r.Checkpoint.Elapsed, Fraction: r.Checkpoint.Fraction,
		Received: r.Received, Deadline: f.deadline(r), Completed: r.Completed,
		Immediately: r.ReportImmediately || app.ReportImmediately, Suspended: r.Suspended, Finishes: f.Finishes[key],
		Started: !r.Started.IsZero(), Urgent: r.Urgent, NotBefore: r.NotBefore, AbortAt: r.AbortAt, Suspect: r.Crashes > 0, SetAside: r.SetAside,
	}
	version, _ := f.DB.Versions.Get(r.Version)
	v.Estimates = jobsched.Estimator(version.Estimates)
	v.NeedsNetwork, v.Unthrottled = version.NeedsNetwork, version.DontThrottle || v.Coproc != nil || v.NonCPUIntensive
	v.Failed = outcome.Failure(f.DB, r)
	v.Overuse = f.overuse(version)
	if f.Now.Before(r.NotBefore) {
		v.Obstacle = r.Obstacle.Or(reason.StartFails)
	}
	if v.Phase == decide.Fetching || v.Phase == decide.Sending {
		v.Transfer = f.transfer(r)
	}
	run, runs := f.Processes[key]
	if p := run.Progress; p != nil {
		v.Elapsed, v.Fraction = max(v.Elapsed, p.Elapsed), max(v.Fraction, p.Fraction)
		if p.WorkingSet > 0 {
			v.Memory = p.WorkingSet
			if of, _ := f.DB.Projects.Get(r.Project); of.StrictMemory {
				v.Memory = max(v.Memory, int64(unit.RscMemoryBound))
			}
		}
		v.Unsaved = p.CPUTime-p.CheckpointCPUTime > unsaved
		v.Lost = Lost(p)
	}
	if runs && !run.Paused {
		v.Running, v.Ran = true, f.Now.Sub(run.Since)
	}
	return v
}

// deadline returns a result's deadline by this computer's clock.
func (f *Facts) deadline(r state.Result) time.Time {
	if r.ReportDeadline.IsZero() {
		return r.ReportDeadline
	}
	return r.ReportDeadline.Add(f.Ahead[r.Project])
}

// Lost returns the maximum computing time of a process that a shutdown now would lose. An
// application may write a checkpoint when it is asked to quit, but most do not.
func Lost(p *executor.Progress) time.Duration {
	if p.WithoutCheckpoint {
		return p.Elapsed
	}
	return max(0, p.Elapsed-p.CheckpointElapsed)
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

// diskKnown reports whether it is known how much disk is used and free.
func (f *Facts) diskKnown() bool { return f.Disk.Free >= 0 && f.Disk.Used >= 0 }

// disk denies computing while more disk is used than the preferences allow.
func (f *Facts) disk(p prefs.Permission) prefs.Permission {
	if p.Denied() || !f.diskKnown() {
		return p
	}
	total := int64(f.Host.DiskTotal)
	allowed := f.Prefs.Disk(total, f.Disk.Free, f.Disk.Used)
	if f.Disk.Used <= allowed {
		return p
	}
	bound := f.Prefs.DiskBound(total, f.Disk.Free, f.Disk.Used)
	return prefs.Permission{Code: reason.DiskFull, Cure: bound.Cure, Why: words.T("The projects' files use {used} of disk space, but the preferences allow {allowed} ({setting}).",
		"used", words.Bytes(f.Disk.Used), "allowed", words.Bytes(allowed), "setting", bound.Text)}
}

// noEffect returns the preferences that are set but have no effect on this computer. Those that
// depend on its sensors are included once the agent has read these.
func (f *Facts) noEffect() (all []words.Text) {
	knows := f.PID != 0 && f.Now.Sub(f.Since) > sensed
	for _, x := range f.Prefs.Ineffective(f.Conditions) {
		if knows || x.Constant {
			all = append(all, x.Text)
		}
	}
	if f.NoCPUs != "" {
		all = append(all, words.T("cpus has no effect: {why}.", "why", words.T(f.NoCPUs)))
	}
	return all
}

// wakeups returns the wake-ups a minute since the agent's start, by cause.
func (f *Facts) wakeups() map[string]float64 {
	minutes := f.Now.Sub(f.Since).Minutes()
	if f.PID == 0 || minutes < 1 {
		return nil
	}
	all := make(map[string]float64, len(f.Wakeups))
	for cause, n := range f.Wakeups {
		all[cause] = math.Round(10*float64(n)/minutes) / 10
	}
	return all
}

// presence describes the use of the computer by people, to the minute, or is empty if nothing
// senses it.
func (f *Facts) presence() words.Text {
	c := f.Conditions
	switch {
	case !c.IdleKnown:
		return words.Text{}
	case c.Idle < time.Minute:
		return words.T("in use, as reported by {source}", "source", c.IdleBy)
	}
	return words.T("idle for {span}, as reported by {source}", "span", words.Span(c.Idle.Truncate(time.Minute)), "source", c.IdleBy)
}

// Trouble returns the trouble between this computer and a project, from the durable record.
func Trouble(p state.Project) reason.Reason {
	t := p.Contact.Trouble.Or(reason.ContactFailed)
	if t.Detail = p.Contact.LastError; !t.Is() && t.Detail != "" { // of an older version, which kept no code
		t.Code = reason.ContactFailed
	}
	return t
}

// Contact returns the input of package contact, from the durable record.
func Contact(p state.Project, now time.Time) contact.State {
	c := p.Contact
	age := now.Sub(p.AttachedAt)
	return contact.State{
		Failures: c.NRPCFailures, MasterFailures: c.MasterFailures,
		FetchMaster: c.FetchMaster, MinRPCTime: c.MinRPCTime,
		New: !c.Initialized && age >= 0 && age < contact.NewFor,
	}
}
