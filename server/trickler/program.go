package trickler

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/starling-grid/starling/server/hook"
	"github.com/starling-grid/starling/server/store"
)

// Program gives messages to a program of the project, as JSON on its standard input. Status 0 means
// that it has handled the message.
type Program struct {
	Command hook.Command
	App     string // the application's name
}

// New returns the handler called name, "exec:CMD", for an application of the project in
// dir.
func New(name, dir, app string) (Handler, error) {
	text, ok := strings.CutPrefix(name, hook.Prefix)
	if !ok {
		return nil, fmt.Errorf("trickle handler %q: want exec:CMD", name)
	}
	cmd, err := hook.Parse(text, dir)
	if err != nil {
		return nil, fmt.Errorf("trickle handler: %w", err)
	}
	return Program{Command: cmd, App: app}, nil
}

// message is the program's input.
type message struct {
	ID         int64     `json:"id"` // of msg_from_host (the same for a repeated message)
	App        string    `json:"app"`
	Result     string    `json:"result"`
	ResultID   int64     `json:"resultid"`
	HostID     int64     `json:"hostid"`
	Variety    string    `json:"variety"`
	SentTime   time.Time `json:"sent_time"` // by the host's clock
	CreateTime time.Time `json:"create_time"`
	Text       string    `json:"text"` // the application's own words, not checked
}

// Handle implements Handler.
func (p Program) Handle(ctx context.Context, m store.MsgFromHost) error {
	return p.Command.Run(ctx, message{
		ID: m.ID, App: p.App, Result: m.ResultName, ResultID: m.ResultID, HostID: m.HostID, Variety: m.Variety,
		SentTime: m.SentTime.UTC(), CreateTime: m.CreateTime.UTC(), Text: m.XML,
	}, nil)
}
