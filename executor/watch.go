package executor

import (
	"sync/atomic"
	"time"

	"github.com/starling-grid/starling/internal/beat"
)

// wakeups counts the reasons for which runs were woken, except for the ends of processes. Each
// wakeup costs energy on a computer that would otherwise sleep.
type wakeups struct {
	polls    atomic.Int64 // looks at the process
	retries  atomic.Int64 // attempts to send messages to an application that has not read the last one yet
	commands atomic.Int64
}

// quietPolls is the number of polls between two looks at a run that computes quietly, and
// suspendedPolls at one that is suspended. An application tolerates 30 seconds without a heartbeat.
const (
	quietPolls     = 5
	suspendedPolls = 10
)

// noviceSpan is the number of polls during which a run counts as new.
const noviceSpan = 10

// watchedSpan is the number of polls for which the progress of runs is kept current after somebody
// looked at it.
const watchedSpan = 3

// watch returns when the process has exited. The polls of all runs happen at the same time, so that
// they wake this process only once.
func (r *run) watch() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	woken := &r.e.woken
	due := beat.Next(time.Now(), r.e.timing.poll)
	for {
		now := time.Now()
		if next := beat.Next(now, r.interval(now)); next.Before(due) {
			due = next
		}
		wait := due.Sub(now)
		if r.hurries(now) {
			// It gets messages as fast as it reads them: up to ten times a second.
			wait = min(wait, r.e.timing.poll/10)
		}
		timer.Reset(wait)
		select {
		case <-r.commands.arrived:
			woken.commands.Add(1)
			r.carryOut(false)
			r.tell()
			r.follow(time.Now())
		case <-timer.C:
			if time.Now().Before(due) {
				woken.retries.Add(1)
				beat.Woke("messages to tasks")
				r.tell()
				r.follow(time.Now())
				break
			}
			woken.polls.Add(1)
			beat.Woke("watching tasks")
			r.poll()
			now = time.Now()
			due = beat.Next(now, r.interval(now))
		case <-r.exited:
			return
		}
	}
}

// interval returns the time between two polls of a run in its current state.
func (r *run) interval(now time.Time) time.Duration {
	p, poll := r.snapshot(), r.e.timing.poll
	silent := r.unread.IsZero() || p.Suspended && r.stopped
	switch leaving := !r.deadline.IsZero() || !r.finished.IsZero(); {
	case leaving || !silent:
		return poll
	case p.Suspended:
		return suspendedPolls * poll
	case r.quota == 0 && r.throttledBy(r.e.allowance().CPU) || r.nearLimit() || now.Sub(r.began) < noviceSpan*poll || r.e.watched(now):
		return poll
	}
	return quietPolls * poll
}

// nearLimit reports whether the run may soon exceed a limit.
func (r *run) nearLimit() bool {
	p, a, d := r.snapshot(), r.e.allowance(), r.task.Init
	return a.Processes > 0 && 2*len(r.descendants) > a.Processes ||
		a.MostMemory > 0 && 2*p.WorkingSet > a.MostMemory ||
		d.RscDiskBound > 0 && 2*r.stderr > d.RscDiskBound
}

// watched reports whether somebody is looking at the progress of runs.
func (e *Executor) watched(now time.Time) bool {
	asked := e.asked.Load()
	return asked != nil && now.Sub(*asked) < watchedSpan*e.timing.poll
}

// hurries reports whether the application has a message to read and may read it soon. An
// application that does not within seconds hangs or does not use the interface, and the polls
// handle it.
func (r *run) hurries(now time.Time) bool {
	return !r.unread.IsZero() && now.Sub(r.unread) < r.e.timing.unresponsive
}
