package control

import (
	"log/slog"
	"strings"
	"time"

	"github.com/starling-grid/starling/protocol/bxml"
)

// A Message is a line of the agent's log.
type Message struct {
	Seqno   int       `json:"seqno,omitempty"` // counts from 1 since the agent's start
	Time    time.Time `json:"time"`
	Level   string    `json:"level"` // DEBUG, INFO, WARN or ERROR
	Project string    `json:"project,omitempty"`
	Text    string    `json:"text"`
}

// A Log is an agent's log since its start.
type Log struct {
	Since    time.Time `json:"since"` // the agent's start
	Messages []Message `json:"messages"`
}

// maxMessage bounds the text of a message, in bytes.
const maxMessage = 16 << 10

// NewMessage makes a message of a record of a logger with the attributes own.
func NewMessage(r slog.Record, own []slog.Attr) Message {
	m := Message{Time: r.Time, Level: r.Level.String()}
	var b strings.Builder
	b.WriteString(r.Message)
	add := func(a slog.Attr) bool {
		v := a.Value.Resolve().String() // secrets hide themselves
		if a.Key == "project" {
			m.Project = v
		} else {
			b.WriteString(" " + a.Key + "=" + v)
		}
		return true
	}
	for _, a := range own {
		add(a)
	}
	r.Attrs(add)
	m.Text, m.Project = bxml.Printable(b.String(), maxMessage), bxml.Printable(m.Project, maxMessage)
	return m
}
