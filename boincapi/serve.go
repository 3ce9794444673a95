//go:build !wasip1

package boincapi

import (
	"math"
	"time"

	"github.com/starling-grid/starling/protocol/appipc"
)

// serve is the runtime's own goroutine. It counts polls instead of time, so that a host that was
// asleep does not look like a client that has ended.
func (a *App) serve() {
	sinceHeartbeat := 0
	tick := time.NewTicker(a.timing.poll)
	defer tick.Stop()
	for n := 1; ; n++ {
		<-tick.C
		if text, ok := a.ipc.Receive(appipc.ControlRequest); ok {
			a.obey(text)
		}
		sinceHeartbeat++
		if _, ok := a.ipc.Receive(appipc.Heartbeats); ok {
			sinceHeartbeat = 0
		}
		if due := a.news.Swap(false) || n%a.timing.status == 0; due && !a.isSuspended() {
			a.sendStatus()
		}
		// Unlike with upstream's runtime, a suspended application checks this, too. Otherwise it
		// would outlive its client forever and block the slot.
		switch {
		case a.init.ClientPID == 0:
			if sinceHeartbeat >= a.timing.heartbeatGap {
				logf("no heartbeat from client - exiting")
				a.leave(ErrClientLost)
				return
			}
		case n%a.timing.clientCheck == 0 && !processExists(a.init.ClientPID):
			logf("client process %d no longer exists - exiting", a.init.ClientPID)
			a.leave(ErrClientLost)
			return
		}
		if a.ctx.Err() != nil {
			return
		}
	}
}

// obey acts on a control message. A message may contain several requests. A request to exit takes
// precedence, and works while suspended.
func (a *App) obey(text string) {
	switch {
	case appipc.Abort.In(text):
		logf("aborted by client")
		a.leave(ErrAborted)
	case appipc.Quit.In(text):
		a.leave(ErrQuit)
	case appipc.Resume.In(text):
		a.setSuspended(false)
	case appipc.Suspend.In(text):
		a.setSuspended(true)
	}
}

func (a *App) setSuspended(v bool) {
	a.mu.Lock()
	changed := a.suspended != v
	a.suspended = v
	a.brisk.Store(!v && a.leaving == nil)
	a.wake.Broadcast()
	a.mu.Unlock()
	if changed && a.opts.Suspended != nil {
		a.opts.Suspended(v)
	}
}

func (a *App) isSuspended() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.suspended
}

// leave asks the work to exit, and ends the process if it does not.
func (a *App) leave(why error) {
	a.mu.Lock()
	a.leaving = why
	a.brisk.Store(false)
	a.wake.Broadcast()
	a.mu.Unlock()
	a.cancel(why)
	time.AfterFunc(a.timing.grace, func() { a.Exit(why) })
}

// sendStatus reports to the client, unless it has not read the last report. Only one goroutine may
// send at a time: serve's, or the one that exits.
func (a *App) sendStatus() {
	a.exit.Lock()
	defer a.exit.Unlock()
	a.reportStatus()
}

func (a *App) reportStatus() {
	if a.ipc.Pending(appipc.AppStatus) {
		return
	}
	a.mu.Lock()
	checkpoint := a.checkpoint
	a.mu.Unlock()
	start, end := a.init.FractionDoneStart, a.init.FractionDoneEnd
	f := math.Float64frombits(a.fraction.Load())
	if f > 0 {
		f = start + f*(end-start)
	}
	a.ipc.Send(appipc.AppStatus, appipc.Status{
		CPUTime:           a.cpuTime(),
		CheckpointCPUTime: checkpoint,
		FractionDone:      f,
		OtherPID:          int(a.otherPID.Load()),
	}.Encode())
}

// bitsOf corrects invalid fractions before they are reported.
func bitsOf(f float64) uint64 {
	if !(f > 0) { // also NaN
		f = 0
	}
	return math.Float64bits(min(f, 1))
}
