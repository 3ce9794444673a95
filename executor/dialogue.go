package executor

import (
	"io"
	"time"

	"github.com/starling-grid/starling/internal/logflag"
	"github.com/starling-grid/starling/protocol/appipc"
)

// channels are the mailboxes in shared memory, which is a mapped file or named memory.
type channels interface {
	mailbox
	Receive(ch appipc.Channel) (text string, ok bool)
	Open() bool
}

// A dialogue is the state of the messages that a run and its application exchange in shared memory.
type dialogue struct {
	ipc     channels
	shared  io.Closer // the memory that ipc uses, or nil if it uses none
	control controlQueue

	unread      time.Time // since when a control message has been unread, or zero if all are read
	beats       int       // heartbeats sent
	listens     bool      // it has shown that it uses BOINC's interface
	uploads     bool      // the slot has outcomes of uploads that the application has not been notified of
	trickleDown bool      // the slot has messages from the server that the application has not been notified of
}

// tell sends the application the control messages that it can take.
func (r *run) tell() {
	waiting := len(r.control.waiting)
	read := r.control.flush(r.ipc)
	if n := len(r.control.waiting); n != waiting {
		r.log.Debug("message sent to application", logflag.Key, logflag.AppMsgSend, "messages", waiting-n, "waiting", n)
	}
	switch {
	case read:
		r.unread = time.Time{}
	case r.unread.IsZero():
		r.unread = time.Now()
	}
}
