package protocol

import (
	"strconv"
	"time"

	"github.com/starling-grid/starling/protocol/bxml"
)

// WorkEvents offers a host a connection on which it is notified at once of new work. It is
// Starling's own element, <starling_work_events>, which BOINC's clients ignore.
type WorkEvents struct {
	URL string // requested by GET, with hostid and Mark
	// Mark is a token that the host repeats. It shows the server which work the host has been
	// notified of.
	Mark string
	// Heartbeat is the maximum time during which the server writes nothing.
	Heartbeat time.Duration
}

const (
	workEventsTag = "starling_work_events"
	maxMark       = 64 // bytes
)

// A server writes WorkEvent on the connection when there is work, and WorkHeartbeat while there is
// none. Both have the format of server-sent events.
const (
	WorkEvent     = "event: work\ndata:\n\n"
	WorkHeartbeat = ":\n\n"
)

func (e WorkEvents) write(w *bxml.Writer) {
	w.Raw("<" + workEventsTag + ` url="` + bxml.EscapeAttr(e.URL) + `" mark="` + bxml.EscapeAttr(e.Mark) +
		`" heartbeat="` + strconv.FormatFloat(e.Heartbeat.Seconds(), 'f', -1, 64) + `"/>`)
}

// scanWorkEvents returns nil if the offer cannot be used.
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
