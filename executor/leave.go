package executor

import (
	"path/filepath"
	"time"

	"github.com/starling-grid/starling/protocol/appipc"
)

// exitAbortedByClient is the status of a result that we end on our own.
const exitAbortedByClient = 194

// pause suspends or resumes; it has no effect on a process that is leaving.
func (r *run) pause(v bool) {
	if !r.deadline.IsZero() {
		return
	}
	if r.mem == nil {
		r.log.Warn("application cannot be suspended on this system")
		return
	}
	r.count(time.Now())
	r.update(func(p *Progress) { p.Suspended = v })
	if v {
		r.control.push(appipc.Suspend)
	} else {
		r.control.push(appipc.Resume)
	}
}

func (r *run) quit() {
	if r.deadline.IsZero() {
		r.ending.Quit = true
		r.ask(appipc.Quit)
	}
}

func (r *run) abort(status int, reason string) {
	if r.ending.Abort {
		return
	}
	r.ending.Abort, r.ending.AbortStatus, r.ending.AbortReason = true, status, reason
	r.ask(appipc.Abort)
}

// ask tells the application to leave and sets a limit to its patience with us.
func (r *run) ask(c appipc.Control) {
	r.deadline = time.Now().Add(r.e.timing.leave)
	if r.mem == nil {
		r.kill()
		return
	}
	r.control.push(c)
	r.tell()
}

// kill ends the process and all that belongs to it.
func (r *run) kill() {
	killGroup(r.cmd.Process.Pid)
	r.killInhabitants()
}

// killInhabitants finds also those who left the group, by the folder they are in.
func (r *run) killInhabitants() {
	dir := filepath.Join(r.e.dir, filepath.FromSlash(slotName(r.task.Slot)))
	for _, pid := range r.e.inhabitants(dir) {
		kill(pid)
	}
}

// end judges the process, which has exited.
func (r *run) end() Exited {
	e := &r.ending
	var used time.Duration
	if r.cmd != nil {
		r.count(time.Now())
		r.readStatus() // the last one may be unread
		r.kill()       // what the main process has left behind
		e.exitOf(r.cmd.ProcessState)
		used = r.cmd.ProcessState.UserTime() + r.cmd.ProcessState.SystemTime()
	}
	p := r.snapshot()
	// An application that does not use the interface reports no CPU time.
	p.CPUTime = max(p.CPUTime, r.task.Init.WUCPUTime+used)
	e.PrematureExits = r.slot.state.PrematureExits
	if b, err := r.slot.dir.ReadFile(appipc.FinishFile); err == nil {
		f := appipc.ParseFinish(b)
		e.Finish = &f
	}
	if b, err := r.slot.dir.ReadFile(appipc.TemporaryExitFile); err == nil {
		if t, ok := appipc.ParseTemporaryExit(b); ok {
			e.Temporary = &t
		}
	}
	j := judge(*e)
	switch {
	case j.Premature:
		r.countExits(e.PrematureExits + 1)
	case j.Verdict == Success:
		r.saveState(p, p.CPUTime, p.Elapsed) // for adopt
	}
	ev := Exited{Result: r.task.Result, Slot: r.task.Slot, CPUTime: p.CPUTime, Elapsed: p.Elapsed, PeakWorkingSet: p.PeakWorkingSet}
	if j.Verdict.Over() {
		ev.Outputs = r.e.outputs(r.task, r.slot)
		ev.Stderr = r.slot.tail(appipc.StderrFile, maxStderr)
		j = judgeOutputs(j, ev.Outputs)
	}
	ev.Verdict, ev.ExitStatus, ev.Message, ev.Delay = j.Verdict, j.ExitStatus, j.Message, j.Delay
	r.closeSlot()
	r.log.Info("result exited", "verdict", ev.Verdict.String(), "exit_status", ev.ExitStatus, "message", ev.Message)
	return ev
}
