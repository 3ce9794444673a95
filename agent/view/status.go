package view

import (
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/agent/outcome"
	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/decide"
	"github.com/starling-grid/starling/internal/nearest"
	"github.com/starling-grid/starling/internal/sysfault"
	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/jobsched"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/reason"
	"github.com/starling-grid/starling/state"
)

// Status shows everything there is to see.
func (f *Facts) Status() control.Status {
	s := control.Status{
		Host: f.Host.DomainName, Running: f.PID != 0, Version: f.Version, PID: f.PID, Since: f.Since, DataDir: f.DataDir,
		CPUs: f.Prefs.CPUs(f.Host.NCPUs, true), Bounded: f.Bounded, Newer: f.Newer,
		Projects: []control.Project{}, Tasks: []control.Task{}, Transfers: []control.Xfer{},
		Times: control.Times{On: f.Times.OnFrac, Active: f.Times.ActiveFrac, Connected: f.Times.ConnectedFrac},
	}
	if f.Faults != nil {
		s.Complaints = strings.Split(sysfault.Text(f.Faults).In(f.Language), "\n")
	}
	for _, p := range f.DB.Projects.All() {
		if text := f.ending(p); p.Ending.Kind == state.AccountMissing {
			s.Complaints = append(s.Complaints, text)
		}
	}
	s.Complaints = append(s.Complaints, f.misspelt()...)
	for _, x := range f.noEffect() {
		s.NoEffect = append(s.NoEffect, f.in(x))
	}
	s.Wakeups = f.wakeups()
	s.Presence, s.Helpers = f.in(f.presence()), f.Conditions.Helpers
	s.Manager, s.Achieved, s.Notices = f.manager(), f.achieved(), f.headlines()
	s.Virtualization, s.VirtualizationFaults = virtualization(f.Host), f.Unusable
	s.Images, s.ImagesFault, s.ImagesCure = f.Images, f.in(f.NoImages.Why), f.in(f.NoImages.Cure)
	seen := f.Last.Snapshot
	for _, g := range f.Coprocs.Groups {
		s.Coprocs = append(s.Coprocs, g.String())
	}
	s.GPUs = f.gpus()
	if seen.CPUs > 0 { // fewer perhaps than while the computer is in use, or more
		s.CPUs = seen.CPUs
	}
	s.Compute, s.Network = f.in(seen.Compute.Why), f.in(seen.Network.Why)
	s.ComputeCode = seen.Compute.Code
	s.NotSaved, s.NotSavedCure = f.in(f.NotSaved), f.in(f.NotSavedCure)
	s.ComputeCure, s.NetworkCure = f.in(seen.Compute.Cure), f.in(seen.Network.Cure)
	s.ComputeDespite, s.NetworkDespite = f.in(seen.Compute.Despite), f.in(seen.Network.Despite)
	s.Drain = f.drain()
	for _, p := range f.Powers {
		text, wrong := p.State(f.Now)
		s.Powers = append(s.Powers, control.Power{Name: p.Name, Number: p.Number, Unit: p.Unit, Limit: p.Limit, Known: p.Known(f.Now), Text: f.in(text), Wrong: wrong})
	}
	h := f.host()
	s.RunMode, s.NetMode = control.ModeName(h.RunMode.At(f.Now)), control.ModeName(h.NetMode.At(f.Now))
	count, took, drawn := make(map[string]int), make(map[string]float64), make(map[string]state.Energy)
	for key, r := range f.DB.Results.All() {
		count[r.Project]++
		t := f.showTask(key, r)
		took[r.Project] += t.CPUTime
		drawn[r.Project] = drawn[r.Project].Plus(f.drawn(key, r))
		s.Unsaved += t.Unsaved
		s.Tasks = append(s.Tasks, t)
	}
	for u, p := range f.DB.Projects.All() {
		v := f.showProject(u, p, count[u])
		v.CPUTime, v.Energy = p.CPUTime.Seconds()+took[u], energy(p.Energy.Plus(drawn[u]))
		s.Projects = append(s.Projects, v)
	}
	for _, w := range f.DB.Wanted() {
		x := control.Xfer{
			Name: w.Name, Project: w.Project, Upload: w.Upload(), Size: w.NBytes,
			NextTry: w.NextTry,
		}
		if o := moving(w.File); o.Is() {
			x.Trouble, x.TroubleCode, x.TroubleCure, x.TroubleDetail = f.in(o.Text(f.Now)), o.Code, f.in(o.Cure("")), w.Error
		}
		if t, moves := f.Transfers[w.Key]; moves {
			x.Active, x.Bytes = true, t.Bytes
			x.Silent, x.Remaining = f.pace(t)
		}
		s.Transfers = append(s.Transfers, x)
	}
	slices.SortFunc(s.Transfers, func(x, y control.Xfer) int { return strings.Compare(x.Name, y.Name) })
	s.Problems, s.TrayIcon = Problems(s, f.Now, f.Settings.DesktopNotifications, f.Language), f.Settings.TrayIcon
	return s
}

// silentAfter is for how long a transfer may move no data without a word about that.
const silentAfter = time.Minute

// pace returns for how many seconds no data of a transfer has moved, 0 for a short while, and
// how many the volunteer's limit on its speed makes the rest take, 0 without such a limit.
func (f *Facts) pace(t Transfer) (silent, remaining float64) {
	if d := f.Now.Sub(t.Moved); !t.Moved.IsZero() && d >= silentAfter {
		silent = d.Seconds()
	}
	limit := f.Prefs.MaxBytesSecDown
	if t.File.Upload() {
		limit = f.Prefs.MaxBytesSecUp
	}
	if limit > 0 && t.File.NBytes > t.Bytes {
		remaining = float64(t.File.NBytes-t.Bytes) / limit
	}
	return silent, remaining
}

// misspelt returns complaints about names of applications in account files that are similar to one
// of the project's but do not exist. A project names its applications as it sends tasks of them.
func (f *Facts) misspelt() (all []string) {
	for _, u := range slices.Sorted(maps.Keys(f.Accounts)) {
		var known []string
		for _, a := range f.DB.Apps.Of(u) {
			known = append(known, a.Name)
		}
		complain := func(section, name string) {
			if best := nearest.Word(name, known); name != "" && best != "" && best != name {
				all = append(all, f.in(words.T("The account file of {url}: {section}: the project has sent no application {name}. Did you mean {best}?", "url", u, "section", section, "name", strconv.Quote(name), "best", strconv.Quote(best))))
			}
		}
		for _, a := range f.Accounts[u].Apps {
			complain("[[app]]", a.Name)
		}
		for _, x := range f.Accounts[u].ExcludeGPUs {
			complain("[[exclude_gpu]]", x.App)
		}
	}
	return all
}

// sensed is the time after its start from which an agent has read the sensors of the computer.
const sensed = 30 * time.Second

func (f *Facts) showProject(u string, p state.Project, tasks int) control.Project {
	acc := f.Accounts[u]
	v := control.Project{
		MasterURL: u, Name: p.Name, UserName: p.UserName, HostID: p.HostID, Share: acc.ResourceShare,
		UserCredit: p.UserTotalCredit, HostCredit: p.HostTotalCredit, UserRAC: p.UserExpavgCredit, HostRAC: p.HostExpavgCredit, Tasks: tasks,
		LastContact: p.Contact.LastRPC, Failures: p.Contact.NRPCFailures + p.Contact.MasterFailures,
		Initialized: p.Contact.Initialized, Disconnected: p.Ending.Kind == state.Detaching, Ending: f.ending(p), Suspended: acc.Suspended, NoMoreWork: acc.NoMoreWork,
	}
	if t := Trouble(p); t.Is() {
		v.Trouble, v.TroubleCode, v.TroubleCure = f.in(t.Text(f.Now)), t.Code, f.in(t.Cure(u))
		v.TroubleFull, v.TroubleSince = t.Detail, t.Since
	}
	if p.Contact.MinRPCTime.After(f.Now) {
		v.NextContact = p.Contact.MinRPCTime
	}
	if x := outcome.Failed(p); x.Is() {
		v.Failing = &control.Failing{
			Count: p.Fetch.Errors, Task: x.Task, Code: x.Code, Text: f.in(x.Failing(p.Fetch.Errors)), Cure: f.in(x.Cure(u)), Stderr: x.Detail, At: x.Since,
		}
	}
	if p.LeftOut != "" {
		v.Notices = append(v.Notices, p.LeftOut)
	}
	var said []string
	for _, n := range p.Messages {
		said = append(said, n.Text)
	}
	v.Notices = append(v.Notices, reason.Messages(said)...)
	if acc.Manager != nil {
		v.Manager = acc.Manager.URL
	}
	if p.Anonymous {
		for _, x := range f.DB.Versions.Of(u) {
			v.Own = append(v.Own, x.AppName+" "+versionText(x))
		}
	}
	v.Storage = f.storage(p)
	for _, l := range p.GUIURLs {
		v.GUIURLs = append(v.GUIURLs, control.GUIURL(l))
	}
	v.Debt = p.Debt
	if d, ok := f.Debts[u]; ok {
		v.Debt = d
	}
	r := f.Last.Project(u).Fetch
	v.Work, v.WorkCode, v.WorkCure = f.in(r.Text), r.Code, f.in(r.Cure)
	if r.Code == reason.NoWorkBackoff {
		for _, x := range f.refused(p) {
			v.Refused = append(v.Refused, control.Refused{Code: x.Code, App: x.App, Text: f.in(x.Or(reason.NotSent).Text(f.Now)), Cure: f.in(x.Or(reason.NotSent).Cure(u))})
		}
	}
	v.Asked = f.Asked[u]
	if c, talks := f.Sessions[u]; talks {
		v.InContact = true
		v.Work = f.in(words.T("In contact with the project since {time}: {why}.", "time", words.Time(c.Since, f.Now), "why", c.About))
	}
	return v
}

// refused returns the reasons why a project sent no work for the CPUs and for the coprocessors that
// are here, without repetition.
func (f *Facts) refused(p state.Project) []reason.Reason {
	all := slices.Clone(p.Fetch.Refused)
	for _, g := range f.Coprocs.Groups {
		for _, x := range p.Stream(g.Kind).Refused {
			if !slices.Contains(all, x) {
				all = append(all, x)
			}
		}
	}
	return all
}

func (f *Facts) showTask(key string, r state.Result) control.Task {
	u := f.unit(r)
	app, _ := f.DB.Apps.Get(state.Key(r.Project, u.AppName))
	t := control.Task{
		Name: r.Name, Project: r.Project, App: u.AppName, AppTitle: app.UserFriendlyName, State: r.State.String(), Slot: r.Slot,
		Fraction: r.Checkpoint.Fraction, CPUTime: max(r.CPUTime, r.Checkpoint.CPUTime).Seconds(),
		Elapsed:  max(r.Elapsed, r.Checkpoint.Elapsed).Seconds(),
		Deadline: f.deadline(r), ExitStatus: r.ExitStatus, Suspended: r.Suspended, AbortAt: r.AbortAt,
		Ready: r.ReadyToReport, Failed: r.ReadyToReport && (r.Message != "" || r.ExitStatus != 0),
		Resources: f.resources(key, r), Energy: energy(f.drawn(key, r)),
	}
	if p := f.Processes[key].Progress; p != nil {
		t.Running, t.PID = !p.Suspended, p.PID
		if p.PID != 0 { // else its slot is being prepared
			t.Fraction, t.CPUTime, t.Elapsed = p.Fraction, p.CPUTime.Seconds(), p.Elapsed.Seconds()
			t.Unsaved = Lost(p).Seconds()
		}
	}
	if t.Fraction == 0 && t.Elapsed > 0 { // the application reports none
		t.Fraction = jobsched.Guess(time.Duration(t.Elapsed*float64(time.Second)), f.stated(r.Version, u.RscFpopsEst))
	}
	if r.State >= protocol.ClientUploading && r.State != protocol.ClientAborted && r.State != protocol.ClientComputeError {
		t.Fraction = 1
	}
	var lateness, lateCure words.Text
	if _, j, ok := f.Last.Result(r.Project, r.Name); ok {
		t.Cure = f.in(j.Cure)
		if r.Computing() {
			t.Remaining, t.Late = j.Remaining.Seconds(), j.Late.Seconds()
			lateness, lateCure = decide.Lateness(r.Name, j.Late, f.deadline(r), f.Now, f.Prefs.CPUBound(f.Host.NCPUs, f.Prefs.InUse(f.Conditions)))
		}
	}
	t.Why, t.LateCure = f.in(f.why(r, t)), f.in(lateCure)
	if lateness.Is() {
		t.Why += " " + f.in(lateness)
	}
	return t
}

// resources returns the resources that a result on coprocessors uses, or "" for one on the CPUs.
func (f *Facts) resources(key string, r state.Result) string {
	u := f.usage(key, r)
	if u.Coproc == nil {
		return ""
	}
	return f.in(u.Text())
}

// why returns in one sentence why a result has not progressed further.
func (f *Facts) why(r state.Result, t control.Task) words.Text {
	switch {
	case r.ReadyToReport:
		if x := outcome.Failure(f.DB, r); x.Is() {
			return x.Ended()
		}
		return reason.Reason{Code: reason.ReadyToReport}.Text(f.Now)
	case !r.AbortAt.IsZero():
		return words.T("At your request, this task will be aborted {when}. To keep it: starling task resume {task}", "when", words.When(r.AbortAt, f.Now), "task", r.Name)
	case r.State == protocol.ClientDownloading, r.State == protocol.ClientUploading:
		waits := decide.Result{Phase: phase(r), Transfer: f.transfer(r)}
		if n := f.Last.Snapshot.Network; n.Denied() {
			waits.Transfer = decide.Transfer{}
			return words.And(waits.Waiting(f.Now).Text, n.Why)
		}
		return waits.Waiting(f.Now).Text
	case t.Running:
		if _, j, ok := f.Last.Result(r.Project, r.Name); ok {
			return j.Text
		}
		return words.T("Running.")
	}
	if _, j, ok := f.Last.Result(r.Project, r.Name); ok && !j.Run() {
		return j.Text
	}
	return words.T("Ready to run.")
}

func (f *Facts) manager() *control.Manager {
	m, ok := f.DB.Managers.Get(state.Self)
	if !ok {
		return nil
	}
	v := &control.Manager{
		URL: m.URL, Name: m.Name, Login: m.Login, UserName: m.UserName, LastContact: m.Last, NextContact: m.NextTry,
		Trouble: f.in(m.Why.Text(f.Now)), TroubleCode: m.Why.Code, Messages: m.Messages,
	}
	if m.Why.Is() {
		v.TroubleCure = f.in(m.Why.ManagerCure(m.URL))
	}
	return v
}

// achievedDays is the number of days for which the status shows the results.
const achievedDays = 7

func (f *Facts) achieved() *control.Achieved {
	d := f.DB.Achieved(f.Now, achievedDays)
	if d == (state.Day{}) {
		return nil
	}
	return &control.Achieved{Days: achievedDays, Finished: d.Finished, Failed: d.Failed, Aborted: d.Aborted, CPUTime: d.CPUTime.Seconds(), Energy: energy(d.Energy)}
}

// ending returns a text that a project's tasks are going to be given up: why, when, and how to keep
// them. It returns "" if they are not.
func (f *Facts) ending(p state.Project) string {
	at := words.When(p.Ending.At, f.Now)
	switch p.Ending.Kind {
	case state.AccountMissing:
		return f.in(words.T("The account file {file} has been missing since {since}. The project will be detached {when} unless the file is restored. You can: restore the file, or detach now with: starling detach {url}",
			"file", filepath.Join(settings.AccountsDir, filepath.Base(p.Ending.File)), "since", words.Time(p.Ending.Since, f.Now), "when", at, "url", p.MasterURL))
	case state.Detaching:
		if p.Ending.Manager != "" { // which would detach it again after an undo alone
			return f.in(words.T("The account manager {manager} detached the project. Its tasks are suspended and will be removed {when}. To keep them: add the project at the account manager, or leave it with starling manager leave; then: starling undo {url}",
				"manager", p.Ending.Manager, "when", at, "url", p.MasterURL))
		}
		return f.in(words.T("The project is being detached. Its tasks are suspended and will be removed {when}. To keep them: starling undo {url}", "when", at, "url", p.MasterURL))
	case state.Resetting:
		return f.in(words.T("The project is being reset. Its tasks are suspended and will be removed {when}. To keep them: starling undo {url}", "when", at, "url", p.MasterURL))
	}
	return ""
}

// drain returns the drain that a person asked for, as of the last pass, or nil.
func (f *Facts) drain() *control.Drain {
	if !f.Drain.On() {
		return nil
	}
	d := &control.Drain{Scope: f.Drain.Scope, Since: f.Drain.Since}
	if f.Last.Snapshot.Drain != f.Drain { // no pass was made since
		d.Left = f.in(words.T("its tasks"))
		return d
	}
	left := f.Last.Plan.Drain
	d.Done, d.Left, d.Tasks, d.Remaining = left.Done(), f.in(left.Text()), left.Stopping+left.Computing+left.Uploading+left.Reporting, left.Left.Seconds()
	return d
}
