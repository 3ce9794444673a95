package executor

import (
	"io"
	"time"

	"github.com/starling-grid/starling/internal/logflag"
	"github.com/starling-grid/starling/protocol/appipc"
)

// channels are the mailboxes in shared memory: a file or memory with a name.
type channels interface {
	mailbox
	Receive(ch appipc.Channel) (text string, ok bool)
	Open() bool
}

// A dialogue is what a run and its application say to each other by shared memory.
type dialogue struct {
	ipc     channels
	shared  io.Closer // that ipc uses; nil: none
	control controlQueue

	unread      time.Time // since when the application has not read a control message; zero: it has
	beats       int       // heartbeats sent
	listens     bool      // it has given a sign of knowing the interface
	uploads     bool      // what became of uploads is in the slot, to be told
	trickleDown bool      // messages of the server are in the slot, to be told
}

// tell hands over control messages.
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
