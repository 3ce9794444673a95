package scheduler

import (
	"strconv"
	"strings"
	"time"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/store"
)

// maxStderr is the maximum size of a result's stderr output that is kept, as in BOINC.
const maxStderr = 64 << 10

// takeReports processes finished results. Each is acknowledged, whether or not the server can use
// it: a client repeats in every request the results that are not acknowledged.
func (r *rpc) takeReports() {
	list := make([]store.ResultChange, 0, len(r.req.Results))
	for i := range r.req.Results {
		rep := &r.req.Results[i]
		if r.reply.seen["ack "+rep.Name] {
			continue // twice in one request: the first counts
		}
		r.reply.seen["ack "+rep.Name] = true
		r.reply.ResultAcks = append(r.reply.ResultAcks, rep.Name)
		old, known := r.look.named[rep.Name]
		if !known {
			continue
		}
		if !mayReport(r.user, old) {
			r.s.Log.Info("report ignored", "result", old.Name, "server_state", old.ServerState, "outcome", old.Outcome,
				"hostid", r.host.ID)
			continue
		}
		r.takeOff(old)
		x := r.take(old, rep)
		r.reportedBack(old, x)
		list = append(list, store.ResultChange{Old: old, Now: x})
	}
	r.reply.took += len(list)
	r.move("reported by host "+strconv.FormatInt(r.host.ID, 10), list)
}

// take returns the new state of a result after a report to this host's account.
func (r *rpc) take(old store.Result, rep *protocol.ReportedResult) store.Result {
	x := accept(old, rep)
	x.HostID, x.ReceivedTime = r.host.ID, r.now
	cpus := r.cpus(x.AppVersionID)
	if x.ElapsedTime == 0 { // some old clients do not report it
		x.ElapsedTime = x.CPUTime
	}
	x.ElapsedTime = max(0, min(max(x.ElapsedTime, x.CPUTime/cpus), r.now.Sub(old.SentTime).Seconds()))
	x.CPUTime = min(x.CPUTime, cpus*x.ElapsedTime)
	x.EnergyWh = energy(rep.EnergyWh, x.ElapsedTime)
	return x
}

// cpus returns the number of CPUs that a result of an app version may have used on this host. The host's
// own number counts up to max_ncpus, or up to the threads of the plan class.
func (r *rpc) cpus(versionID int64) float64 {
	most := r.s.Config.PlanClasses[r.catalog.classes[versionID]].MaxThreads
	if n := r.s.Config.MaxNCPUs; n > 0 {
		return float64(max(1, min(r.req.Host.NCPUs, max(n, most))))
	}
	return float64(max(1, r.req.Host.NCPUs))
}

// maxPower is the maximum power of a host in watts. A report of more energy is not used.
const maxPower = 10_000

// energy returns a reported energy in watt-hours, or 0 if it is impossible in the elapsed time.
func energy(wh, elapsed float64) float64 {
	if !(wh > 0 && wh <= maxPower*elapsed/3600) {
		return 0
	}
	return wh
}

// move changes results, for which the transitioner has something to do now.
func (r *rpc) move(why string, list []store.ResultChange) {
	if len(list) == 0 {
		return
	}
	r.moves = append(r.moves, moves{why, list})
	for _, c := range list {
		r.transitionBy(c.Old.WorkunitID, r.now)
	}
}

// transitionBy makes the transitioner look at a workunit at a time at the latest.
func (r *rpc) transitionBy(workunit int64, at time.Time) {
	if r.due == nil {
		r.due = make(map[int64]time.Time)
	}
	if old, ok := r.due[workunit]; !ok || at.Before(old) {
		r.due[workunit] = at
	}
}

// mayReport reports whether a user's report of a result counts. A result that was given up because the host did not
// report in time is accepted late. A result that is over for other reasons was reported before, or
// is not wanted.
func mayReport(u store.User, old store.Result) bool {
	switch {
	case old.UserID != u.ID:
		return false
	case old.ServerState == store.InProgress:
		return true
	case old.ServerState == store.Over:
		return old.Outcome == store.NoReply || old.Outcome == store.ClientDetached
	}
	return false
}

// accept returns the new state of a result after a report. The client decides whether it was a
// success. The validator checks that the output files exist, and changes the outcome into a
// validate error if they do not.
func accept(old store.Result, rep *protocol.ReportedResult) store.Result {
	x := old
	x.ServerState, x.Outcome = store.Over, store.ClientError
	if rep.Success() {
		x.Outcome, x.ValidateState = store.Success, store.ValidateInit
	} else {
		x.ValidateState = store.Invalid
	}
	if x.FileDeleteState == store.DeleteDone {
		x.FileDeleteState = store.DeleteInit // late: files uploaded since must be deleted too
	}
	x.ClientState, x.ExitStatus = int64(rep.State), int64(rep.ExitStatus)
	x.CPUTime = max(0, rep.FinalCPUTime.Seconds())
	x.ElapsedTime = max(0, rep.FinalElapsedTime.Seconds())
	x.PeakWorkingSet, x.PeakSwap, x.PeakDisk = float64(rep.PeakWorkingSet), float64(rep.PeakSwap), float64(rep.PeakDisk)
	x.StderrOut = text(rep.StderrOut)
	var files strings.Builder
	for _, f := range rep.Files {
		if f.ErrorMsg != "" {
			x.StderrOut = text(x.StderrOut + "\n" + f.Name + ": " + f.ErrorMsg + "\n")
		}
		files.WriteString(f.XML())
	}
	x.XMLDocOut = text(files.String())
	return x
}

// text makes a program's output fit for a database: bounded, UTF-8, no zero bytes. The end is worth
// more than the beginning.
func text(s string) string {
	if len(s) > maxStderr {
		s = s[len(s)-maxStderr:]
	}
	return strings.ReplaceAll(strings.ToValidUTF8(s, "?"), "\x00", "?")
}
