package executor

import (
	"slices"

	"github.com/starling-grid/starling/protocol/appipc"
)

// A controlQueue contains the control messages that the application has not received yet, since its
// channel takes one at a time. The zero value is the empty queue of an application that runs.
type controlQueue struct {
	waiting   []appipc.Control
	suspended bool // whether the application will be suspended when it has read all of it
}

// push adds a message. If it undoes a message that the application has not received yet, both are
// dropped.
//
// An application that is suspended gets a resume before a quit or abort. Upstream's runtime would
// otherwise discard the quit or abort and never exit.
func (q *controlQueue) push(c appipc.Control) {
	switch c {
	case appipc.Suspend, appipc.Resume:
		want := c == appipc.Suspend
		if q.suspended == want || q.leaving() {
			return
		}
		q.suspended = want
		if i := slices.IndexFunc(q.waiting, isPause); i >= 0 {
			q.waiting = slices.Delete(q.waiting, i, i+1) // it is the opposite
			return
		}
	case appipc.Reread:
		if q.leaving() || slices.Contains(q.waiting, c) {
			return
		}
	case appipc.Quit, appipc.Abort:
		if q.suspended {
			q.push(appipc.Resume)
		}
		q.waiting = slices.DeleteFunc(q.waiting, func(w appipc.Control) bool { return w == appipc.Quit })
	}
	q.waiting = append(q.waiting, c)
}

func isPause(c appipc.Control) bool { return c == appipc.Suspend || c == appipc.Resume }

func (q *controlQueue) leaving() bool {
	n := len(q.waiting)
	return n > 0 && (q.waiting[n-1] == appipc.Quit || q.waiting[n-1] == appipc.Abort)
}

// A mailbox takes one message at a time on each channel.
type mailbox interface {
	Send(ch appipc.Channel, text string) bool
	Pending(ch appipc.Channel) bool
}

// flush sends as many messages as the channel takes, and reports whether all of them have been sent
// and read.
func (q *controlQueue) flush(ipc mailbox) bool {
	for len(q.waiting) > 0 && ipc.Send(appipc.ControlRequest, string(q.waiting[0])) {
		q.waiting = q.waiting[1:]
	}
	return len(q.waiting) == 0 && !ipc.Pending(appipc.ControlRequest)
}
