package executor

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/starling-grid/starling/internal/foreigndir"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/protocol/appipc"
	"github.com/starling-grid/starling/reason"
)

// An Allowance is the amount of resources that the volunteer's preferences allow runs to use now.
type Allowance struct {
	CPU              float64 // percent of the time during which each may compute, where 0 means 100
	Memory           int64   // bytes that all may use now, reported to them, or 0 if unknown
	MostMemory       int64   // bytes that all may ever use, or 0 for no limit. A single run that uses more is aborted.
	NetworkSuspended bool    // reported to them
	Processes        int     // maximum number of processes of one run, where they can be counted, or 0 for no limit
}

// Allow sets the limits that apply to all runs from their next poll on.
func (e *Executor) Allow(a Allowance) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.allowed = a
}

func (e *Executor) allowance() Allowance {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.allowed
}

// A time bound of less than minTimeBound is a project's mistake, and is replaced by instead.
//
// Source: BOINC client/app.cpp, ACTIVE_TASK::init.
const (
	minTimeBound     = 2 * time.Minute
	instead          = 12 * time.Hour
	megabyte, gigaop = 1 << 20, 1e9
)

// timeLimit returns the time that the task may compute. 0 means no limit.
func (t Task) timeLimit() time.Duration {
	if t.FLOPS <= 0 || t.Init.RscFPOpsBound <= 0 {
		return 0
	}
	const most = 100 * 365 * 24 * time.Hour
	d := time.Duration(min(t.Init.RscFPOpsBound/t.FLOPS*float64(time.Second), float64(most)))
	if d < minTimeBound {
		return instead
	}
	return d
}

// limit aborts a run that has exceeded one of its limits.
//
// Source: BOINC client/app_control.cpp, ACTIVE_TASK_SET::check_rsc_limits_exceeded. The texts are
// the same because people search projects' web sites for them.
func (r *run) limit(now time.Time, a Allowance) {
	if !r.deadline.IsZero() {
		return
	}
	if n := 1 + len(r.descendants); a.Processes > 0 && n > a.Processes {
		r.abort(protocol.ExitAbortedByClient, fmt.Sprintf("exceeded process limit: %d processes > %d (max_processes)", n, a.Processes), reason.ManyProcesses)
		r.kill() // it might keep growing while we wait for it to exit
		return
	}
	p, d := r.snapshot(), r.task.Init
	if most := r.timeLimit; most > 0 && p.Elapsed > most {
		r.abort(protocol.ExitTimeLimit, fmt.Sprintf("exceeded elapsed time limit %.2f (%.2fG/%.2fG)",
			most.Seconds(), d.RscFPOpsBound/gigaop, r.task.FLOPS/gigaop), reason.TimeLimit)
		return
	}
	r.bound(a)
	r.smooth(now, p.WorkingSet)
	if a.MostMemory > 0 && r.smoothed > float64(a.MostMemory) {
		r.abort(protocol.ExitMemoryLimit, fmt.Sprintf("working set size > client RAM limit: %.2fMB > %.2fMB",
			r.smoothed/megabyte, float64(a.MostMemory)/megabyte), reason.MemoryLimit)
		return
	}
	// stderr can grow fastest, and its size is cheap to read.
	used := r.slot.size(appipc.StderrFile)
	r.stderr = used
	if now.Sub(r.measured) >= r.e.timing.disk {
		r.measured = now
		var err error
		if used, err = r.diskUsage(); errors.Is(err, foreigndir.ErrTooDeep) {
			r.abort(protocol.ExitDiskLimit, fmt.Sprintf("exceeded disk limit: folders nested more than %d deep", foreigndir.MaxDepth), reason.DiskLimit)
			return
		}
		r.update(func(p *Progress) { p.Disk, p.PeakDisk = used, max(p.PeakDisk, used) })
	}
	if d.RscDiskBound > 0 && used > d.RscDiskBound {
		r.abort(protocol.ExitDiskLimit, diskExceeded(used, d.RscDiskBound), reason.DiskLimit)
	}
}

// smooth adds a working set to the moving average. After ten seconds a new value counts for half,
// as upstream, so that a short peak does not cost the work.
func (r *run) smooth(now time.Time, workingSet int64) {
	const perPoll = 0.067
	polls := min(max(1, now.Sub(r.weighed).Seconds()/r.e.timing.poll.Seconds()), suspendedPolls)
	r.weighed = now
	r.smoothed += (1 - math.Pow(1-perPoll, polls)) * (float64(workingSet) - r.smoothed)
}

func diskExceeded(used, bound int64) string {
	return fmt.Sprintf("exceeded disk limit: %.2fMB > %.2fMB", float64(used)/megabyte, float64(bound)/megabyte)
}

// bound makes the system enforce the run's limits, where it can.
func (r *run) bound(a Allowance) {
	if r.cmd != nil && a == r.bounded {
		return
	}
	r.bounded = a
	r.group.bound(a.MostMemory, moreTasks*a.Processes, !r.task.Init.NoPriorityChange)
}

// diskUsage returns the number of bytes that the run has written: its slot with the outputs, and
// files that no longer have a name.
func (r *run) diskUsage() (int64, error) {
	sum, err := foreigndir.Usage(r.e.root, slotName(r.task.Slot))
	if r.cmd != nil {
		sum += unlinked(r.everyone())
	}
	return sum, err
}
