package executor

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/starling-grid/starling/internal/foreigndir"
	"github.com/starling-grid/starling/internal/logflag"
	"github.com/starling-grid/starling/internal/sysfault"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/protocol/appipc"
	"github.com/starling-grid/starling/reason"
)

// untilRoom is the delay before a task is tried again that failed while no files could be written.
const untilRoom = 30 * time.Second

func (r *run) quit() {
	if r.deadline.IsZero() {
		r.ending.Quit = true
		r.ask(appipc.Quit)
	}
}

func (r *run) abort(status int, text string, code reason.Code) {
	if r.ending.Abort {
		return
	}
	r.ending.Abort, r.ending.AbortStatus, r.ending.AbortText, r.ending.AbortCode = true, status, text, code
	r.ask(appipc.Abort)
}

// ask asks the application to exit and sets a deadline for it.
func (r *run) ask(c appipc.Control) {
	r.deadline = time.Now().Add(r.e.timing.leave)
	if r.cmd == nil {
		return // its program has not been started
	}
	if !r.ipc.Open() {
		r.kill()
		return
	}
	r.control.push(c)
	r.wake()
	r.tell()
}

// dir is the slot's path.
func (r *run) dir() string { return filepath.Join(r.e.dir, filepath.FromSlash(slotName(r.task.Slot))) }

// obstacle returns why files cannot be written in slots, or the zero value if they can. A failure at such
// a time may not occur later. The folder above the slots is tried, since a task may change its own.
func (e *Executor) obstacle() reason.Reason {
	if e.diskFull() {
		return reason.Reason{Code: reason.DiskFull}
	}
	f, err := os.CreateTemp(filepath.Join(e.dir, "slots"), ".probe-")
	switch {
	case err == nil:
		_ = f.Close()
		_ = os.Remove(f.Name())
	case sysfault.DiskFails(err):
		return reason.Reason{Code: reason.DiskFails}
	case sysfault.NotAllowed(err):
		return reason.Reason{Code: reason.NotAllowed}
	}
	return reason.Reason{}
}

// end judges the process, which has exited or was not started, and returns its last event.
func (r *run) end() Exited {
	e := &r.ending
	if r.slot == nil { // it was aborted while it could not be started
		r.log.Info("result aborted", logflag.Key, logflag.Task, "exit_status", e.AbortStatus, "message", e.AbortText)
		saved, _ := r.e.Saved(r.task.Result, r.task.Slot)
		return Exited{
			Result: r.task.Result, Slot: r.task.Slot, Verdict: Aborted, ExitStatus: e.AbortStatus, Message: e.AbortText,
			Reason: reason.Reason{Code: e.AbortCode}, CPUTime: saved.CPUTime, Elapsed: saved.Elapsed,
		}
	}
	var used time.Duration
	if r.cmd != nil {
		r.count(time.Now())
		r.readStatus() // the last report may be unread
		if r.unkept {
			r.checkpointed()
		}
		r.mail()
		r.trickleUp()
		if !r.clean() { // processes that the main process has left behind
			r.log.Warn("application processes do not end")
		}
		e.exitOf(r.cmd.ProcessState)
		used = r.used()
		if e.FileTooBig && !e.Abort {
			e.Abort, e.AbortStatus, e.AbortCode = true, protocol.ExitDiskLimit, reason.DiskLimit
			e.AbortText = diskExceeded(r.task.Init.RscDiskBound+roomForMessage, r.task.Init.RscDiskBound)
		}
		if r.group.outOfMemory() && !e.Abort {
			e.Abort, e.AbortStatus, e.AbortCode = true, protocol.ExitMemoryLimit, reason.MemoryLimit
			e.AbortText = fmt.Sprintf("working set size > client RAM limit: ended by the system at %.2fMB", float64(r.bounded.MostMemory)/megabyte)
		}
	}
	p := r.snapshot()
	// An application that does not use the interface reports no CPU time.
	p.CPUTime = max(p.CPUTime, r.task.Init.WUCPUTime+used)
	e.PrematureExits = r.slot.state.PrematureExits
	if b, err := r.slot.read(appipc.FinishFile); err == nil {
		f := appipc.ParseFinish(b)
		e.Finish = &f
	}
	if b, err := r.slot.read(appipc.TemporaryExitFile); err == nil {
		if t, ok := appipc.ParseTemporaryExit(b); ok {
			e.Temporary = &t
		}
	}
	r.log.Debug("process ended", logflag.Key, logflag.TaskDebug, "code", e.Code, "signal", e.Signal, "quit", e.Quit, "abort", e.Abort, "premature_exits", e.PrematureExits)
	j := judge(*e)
	if j.Verdict == ComputeError {
		if o := r.e.obstacle(); o.Is() {
			j = judgement{Verdict: Postponed, Message: "failed while the disk was full or took no changes", Delay: untilRoom, Reason: o}
			if err := foreigndir.RemoveAll(r.slot.dir, appipc.FinishFile); err != nil { // otherwise adopt would take the run for finished
				r.log.Warn("cannot remove finish file", "err", err)
			}
		}
	}
	switch {
	case j.Premature:
		r.countExits(e.PrematureExits + 1)
	case j.Verdict == Success:
		r.saveState(p, p.CPUTime, p.Elapsed) // for adopt
	}
	ev := Exited{Result: r.task.Result, Slot: r.task.Slot, CPUTime: p.CPUTime, Elapsed: p.Elapsed, Used: max(p.Used, used), PeakWorkingSet: p.PeakWorkingSet, PeakSwap: p.PeakSwap, PeakDisk: p.PeakDisk}
	if j.Verdict.Over() {
		if disk, err := r.diskUsage(); err == nil { // most runs are shorter than the time between two measurements
			ev.PeakDisk = max(ev.PeakDisk, disk)
		}
		ev.Outputs = r.e.outputs(r.task, r.slot)
		ev.Stderr = r.slot.tail(appipc.StderrFile, maxStderr)
		j = judgeOutputs(j, ev.Outputs)
		if r.e.ctx.Err() != nil && j.Verdict != Aborted {
			j = judgement{Verdict: WillRestart, Message: "stopped while its files were being checked"} // see adopt
		}
	}
	ev.Verdict, ev.ExitStatus, ev.Message, ev.Delay, ev.Reason = j.Verdict, j.ExitStatus, j.Message, j.Delay, j.Reason
	r.closeSlot()
	r.log.Info("result exited", logflag.Key, logflag.Task, "verdict", ev.Verdict.String(), "exit_status", ev.ExitStatus, "message", ev.Message)
	return ev
}
