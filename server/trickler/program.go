package trickler

import (
	"context"
	"time"

	"github.com/starling-grid/starling/server/hook"
	"github.com/starling-grid/starling/server/store"
)

// Program gives messages to a program of the project, by JSON on its standard
// input. Status 0 says that it has handled the message.
type Program struct {
	Command hook.Command
	App     string // the application's name
}

// message is what the program reads.
type message struct {
	ID         int64     `json:"id"` // of msg_from_host; the same if it comes again
	App        string    `json:"app"`
	Result     string    `json:"result"`
	ResultID   int64     `json:"resultid"`
	HostID     int64     `json:"hostid"`
	Variety    string    `json:"variety"`
	SentTime   time.Time `json:"sent_time"` // by the host's clock
	CreateTime time.Time `json:"create_time"`
	Text       string    `json:"text"` // the application's own words, not checked
}

// Handle does what the type says.
func (p Program) Handle(ctx context.Context, m store.MsgFromHost) error {
	return p.Command.Run(ctx, message{
		ID: m.ID, App: p.App, Result: m.ResultName, ResultID: m.ResultID, HostID: m.HostID, Variety: m.Variety,
		SentTime: m.SentTime.UTC(), CreateTime: m.CreateTime.UTC(), Text: m.XML,
	}, nil)
}
