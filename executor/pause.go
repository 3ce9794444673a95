package executor

import (
	"time"

	"github.com/starling-grid/starling/internal/logflag"
	"github.com/starling-grid/starling/protocol/appipc"
)

// held reports whether the run is not to compute now.
func (r *run) held() bool { return r.snapshot().Suspended || r.throttled }

// hold changes whether the run is held, and tells the application. It has no
// effect on one that is leaving.
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

// pause suspends or resumes.
func (r *run) pause(v bool) {
	if !r.ipc.Open() {
		r.log.Warn("application cannot be suspended on this system")
		return
	}
	r.hold(func() { r.update(func(p *Progress) { p.Suspended = v }) })
}

// follow stops and wakes by signal what does not heed messages: the children of
// most applications, and a program that does not know the interface. The
// application itself is stopped only in that case: a signal would meet it in a
// critical section.
func (r *run) follow(now time.Time) {
	heard := r.unread.IsZero()
	deaf := !heard && !r.listens && now.Sub(r.unread) >= r.e.timing.deaf
	switch {
	case !r.ipc.Open():
	case !r.deadline.IsZero():
		if deaf && !r.terminated {
			r.terminated = true
			r.log.Debug("program does not know the interface, terminating it", logflag.Key, logflag.TaskDebug)
			signalAll(append(r.relatives(), r.cmd.Process.Pid), terminate)
		}
	case r.held() && !r.stopped && (heard || deaf) && !r.virtual():
		r.stopped = true
		if deaf && r.group.freeze(true) {
			return
		}
		if deaf {
			signalAll([]int{r.cmd.Process.Pid}, stop)
		}
		signalAll(r.relatives(), stop)
		signalAll(r.relatives(), stop) // that were started meanwhile
	case !r.held():
		r.wake()
	}
}

// wake lets all stopped processes go on.
func (r *run) wake() {
	if !r.stopped {
		return
	}
	r.stopped = false
	r.group.freeze(false)
	signalAll(append(r.relatives(), r.cmd.Process.Pid), resume)
}

// relatives are the processes that belong to the application, itself excepted.
func (r *run) relatives() []int {
	all := r.e.tree.look(true)
	r.kin = all.relatives(r.cmd.Process.Pid, r.kin)
	pids := make([]int, 0, len(r.kin))
	for pid := range r.kin {
		pids = append(pids, pid)
	}
	return pids
}
