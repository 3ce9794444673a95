package agent

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/executor"
	"github.com/starling-grid/starling/jobsched"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/state"
)

// Status shows everything there is to see, as of one instant between two steps
// of the loop.
func (a *Agent) Status(ctx context.Context) (s control.Status, err error) {
	err = a.do(ctx, func() error {
		s = a.status(a.exec.Progress())
		s.Running, s.PID, s.Since = true, os.Getpid(), a.since
		return nil
	})
	return s, err
}

func (a *Agent) status(progress map[string]executor.Progress) control.Status {
	s := control.Status{Version: a.cfg.Version, DataDir: a.cfg.DataDir, CPUs: a.cpus(), Bounded: a.bounded}
	if a.faults != nil {
		s.Complaints = strings.Split(a.faults.Error(), "\n")
	}
	if r := a.newer.found; r != nil {
		s.Newer = &control.Release{Version: r.Version, URL: r.URL}
	}
	s.Manager = a.showManager()
	seen := a.last.Snapshot
	if seen.CPUs > 0 { // fewer perhaps than while the computer is in use, or more
		s.CPUs = seen.CPUs
	}
	s.Compute, s.Network = seen.Compute.Why, seen.Network.Why
	h, _ := a.db.Hosts.Get(state.Self)
	s.RunMode, s.NetMode = control.ModeName(h.RunMode.At(time.Now())), control.ModeName(h.NetMode.At(time.Now()))
	s.Times = control.Times(a.up.times)
	count, took := make(map[string]int), make(map[string]float64)
	for key, r := range a.db.Results.All() {
		count[r.Project]++
		t := a.showTask(key, r, progress)
		took[r.Project] += t.CPUTime
		s.Tasks = append(s.Tasks, t)
	}
	for u, p := range a.db.Projects.All() {
		v := a.showProject(u, p, count[u])
		v.CPUTime = p.CPUTime.Seconds() + took[u]
		s.Projects = append(s.Projects, v)
	}
	for key, f := range a.wantedFiles() {
		x := control.Xfer{
			Name: f.Name, Project: f.Project, Upload: f.Output, Size: f.NBytes,
			NextTry: f.NextTry, Trouble: f.Error,
		}
		if t := a.moving[key]; t != nil {
			x.Active, x.Bytes = true, t.bytes.Load()
		}
		s.Transfers = append(s.Transfers, x)
	}
	slices.SortFunc(s.Transfers, func(x, y control.Xfer) int { return strings.Compare(x.Name, y.Name) })
	return s
}

func (a *Agent) showProject(u string, p state.Project, tasks int) control.Project {
	acc := a.accounts[u]
	v := control.Project{
		MasterURL: u, Name: p.Name, UserName: p.UserName, HostID: p.HostID, Share: acc.ResourceShare,
		UserCredit: p.UserTotalCredit, HostCredit: p.HostTotalCredit, Tasks: tasks,
		LastContact: p.Contact.LastRPC, Trouble: p.Contact.LastError, Failures: p.Contact.NRPCFailures,
		Initialized: p.Contact.Initialized, Disconnected: a.leaving[u], Suspended: acc.Suspended, NoMoreWork: acc.NoMoreWork,
	}
	if p.Contact.MinRPCTime.After(time.Now()) {
		v.NextContact = p.Contact.MinRPCTime
	}
	for _, n := range p.Notices {
		v.Notices = append(v.Notices, n.Text)
	}
	if acc.Manager != nil {
		v.Manager = acc.Manager.URL
	}
	v.Debt = p.Debt
	if d, ok := a.debts.of[u]; ok {
		v.Debt = d
	}
	r := a.last.project(u).Fetch
	v.Work, v.WorkCode = r.Text, string(r.Code)
	if doing := a.talking[u]; doing != "" {
		v.Work = "In contact with the project: " + doing + "."
	}
	return v
}

func (a *Agent) showTask(key string, r state.Result, progress map[string]executor.Progress) control.Task {
	u, _ := a.db.Units.Get(state.Key(r.Project, r.WorkunitName))
	t := control.Task{
		Name: r.Name, Project: r.Project, App: u.AppName, State: r.State.String(), Slot: r.Slot,
		Fraction: r.Checkpoint.Fraction, CPUTime: max(r.CPUTime, r.Checkpoint.CPUTime).Seconds(),
		Elapsed:  max(r.Elapsed, r.Checkpoint.Elapsed).Seconds(),
		Deadline: r.ReportDeadline, ExitStatus: r.ExitStatus, Suspended: r.Suspended,
	}
	if p, ok := progress[taskID(r)]; ok {
		t.Running, t.PID = !p.Suspended, p.PID
		t.Fraction, t.CPUTime, t.Elapsed = p.Fraction, p.CPUTime.Seconds(), p.Elapsed.Seconds()
	}
	if t.Fraction == 0 && t.Elapsed > 0 { // it does not tell
		t.Fraction = jobsched.Guess(time.Duration(t.Elapsed*float64(time.Second)), a.stated(r.Version, u.RscFpopsEst))
	}
	if r.State >= protocol.ClientUploading && r.State != protocol.ClientAborted && r.State != protocol.ClientComputeError {
		t.Fraction = 1
	}
	if j, ok := a.last.result(key); ok {
		t.Remaining = j.Remaining.Seconds()
	}
	t.Why = a.why(key, r, t)
	return t
}

// why says in one sentence why a result is not further.
func (a *Agent) why(key string, r state.Result, t control.Task) string {
	switch {
	case r.ReadyToReport && r.Message != "":
		return fmt.Sprintf("Failed: %s. It is reported at the next contact.", r.Message)
	case r.ReadyToReport:
		return "Done. It is reported at the next contact."
	case r.State == protocol.ClientDownloading:
		return "Waiting for its files." + a.trouble(r, a.inputs(r))
	case r.State == protocol.ClientUploading:
		return "Its files are being sent." + a.trouble(r, r.FileRefs)
	case t.Running:
		if j, ok := a.last.result(key); ok {
			return j.Text
		}
		return "Running."
	}
	if j, ok := a.last.result(key); ok && !j.Run() {
		return j.Text
	}
	return "Ready to run."
}

// trouble tells what is wrong with the transfers of a result's files.
func (a *Agent) trouble(r state.Result, refs []protocol.FileRef) string {
	if n := a.last.Snapshot.Network; n.Denied() {
		return " " + n.Why
	}
	for _, ref := range refs {
		f, _ := a.db.Files.Get(state.Key(r.Project, ref.FileName))
		if f.Error != "" && f.NextTry.After(time.Now()) {
			return fmt.Sprintf(" %s; trying again at %s.", f.Error, f.NextTry.Format("15:04:05"))
		}
	}
	return ""
}
