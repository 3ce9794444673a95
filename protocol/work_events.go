package protocol

import (
	"strconv"
	"time"

	"github.com/starling-grid/starling/protocol/bxml"
)

// WorkEvents offers a host a connection on which it learns at once that there is new work. It is
// Starling's own element, <starling_work_events>; BOINC's clients pass over it.
type WorkEvents struct {
	URL string // to be asked by GET, with hostid and Mark
	// Mark is for the server: up to when the host knows of work. The host repeats it.
	Mark string
	// Heartbeat is the maximum time in which the server writes nothing.
	Heartbeat time.Duration
}

const (
	workEventsTag = "starling_work_events"
	maxMark       = 64 // bytes
)

// WorkEvent is what a server writes on the connection when there is work; WorkHeartbeat, when there
// is none yet. Both are of the format of server-sent events.
const (
	WorkEvent     = "event: work\ndata:\n\n"
	WorkHeartbeat = ":\n\n"
)

func (e WorkEvents) write(w *bxml.Writer) {
	w.Raw("<" + workEventsTag + ` url="` + bxml.EscapeAttr(e.URL) + `" mark="` + bxml.EscapeAttr(e.Mark) +
		`" heartbeat="` + strconv.FormatFloat(e.Heartbeat.Seconds(), 'f', -1, 64) + `"/>`)
}

// scanWorkEvents returns nil if what is offered cannot be used.
func scanWorkEvents(s *bxml.Scanner) *WorkEvents {
	e := &WorkEvents{URL: bxml.Printable(s.Attr("url"), maxText), Mark: bxml.Printable(s.Attr("mark"), maxMark)}
	seconds, err := strconv.ParseFloat(s.Attr("heartbeat"), 64)
	s.Skip()
	if err != nil || !(seconds >= 1 && seconds <= 3600) || e.URL == "" {
		return nil
	}
	e.Heartbeat = Seconds(seconds)
	return e
}
