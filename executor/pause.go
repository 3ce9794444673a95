package executor

import (
	"time"

	"github.com/starling-grid/starling/internal/logflag"
	"github.com/starling-grid/starling/protocol/appipc"
)

// held reports whether the run is currently not allowed to compute.
func (r *run) held() bool { return r.snapshot().Suspended || r.throttled }

// hold changes whether the run is held, and notifies the application. It does nothing for a run
// that is leaving.
func (r *run) hold(change func()) {
	if !r.deadline.IsZero() {
		return
	}
	was := r.held()
	r.count(time.Now())
	change()
	if now := r.held(); now == was {
		return
	} else if now {
		r.control.push(appipc.Suspend)
	} else {
		r.control.push(appipc.Resume)
	}
}

// pause suspends or resumes the run.
func (r *run) pause(v bool) {
	if r.cmd != nil && !r.ipc.Open() {
		r.log.Warn("application cannot be suspended on this system")
		return
	}
	r.hold(func() { r.update(func(p *Progress) { p.Suspended = v }) })
}

// follow uses signals to stop and resume processes that ignore messages: the children of most
// applications, and programs that do not use the interface. It stops the main process only in the
// latter case, because a signal could stop it in a critical section.
func (r *run) follow(now time.Time) {
	heard := r.unread.IsZero()
	unresponsive := !heard && !r.listens && now.Sub(r.unread) >= r.e.timing.unresponsive
	switch {
	case !r.ipc.Open():
	case !r.deadline.IsZero():
		if unresponsive && !r.terminated {
			r.log.Debug("program cannot be suspended, terminating it", logflag.Key, logflag.TaskDebug)
			r.terminate()
		}
	case r.held() && !r.stopped && (heard || unresponsive) && r.task.runner().Computes():
		r.suspend(unresponsive)
	case !r.held():
		r.wake()
	}
}
