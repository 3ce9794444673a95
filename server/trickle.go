package server

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/starling-grid/starling/server/hook"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/trickler"
)

// maxTrickle bounds a trickle-down message, in bytes.
const maxTrickle = 64 << 10

// SendTrickle leaves a trickle-down message for the application that computes a
// result. Its host gets it at its next contact, once.
func (p *Project) SendTrickle(ctx context.Context, result, text string, now time.Time) error {
	switch {
	case strings.TrimSpace(text) == "":
		return errors.New("the message is empty")
	case len(text) > maxTrickle:
		return fmt.Errorf("the message has %d bytes, want %d at most", len(text), maxTrickle)
	case strings.Contains(text, "</trickle_down>") || strings.Contains(text, "</scheduler_reply>"):
		return errors.New("the message holds an end tag that clients would take for its end")
	}
	return p.Store.Update(ctx, func(tx *store.Tx) error {
		r, err := tx.ResultByName(result)
		if err != nil {
			return fmt.Errorf("result %s: %w", result, err)
		}
		if r.ServerState != store.InProgress {
			return fmt.Errorf("result %s is not in progress: nobody computes it now", result)
		}
		_, err = tx.AddMsgToHost(store.MsgToHost{CreateTime: now, HostID: r.HostID, ResultID: r.ID, ResultName: r.Name, XML: text})
		return err
	})
}

func (p *Project) trickle(ctx context.Context, appID int64) (trickler.Handler, error) {
	app, err := p.app(ctx, appID)
	if err != nil {
		return nil, err
	}
	cmd, err := p.trickleCommand(app.Trickle)
	return trickler.Program{Command: cmd, App: app.Name}, err
}

func (p *Project) trickleCommand(name string) (hook.Command, error) {
	text, ok := strings.CutPrefix(name, hook.Prefix)
	if !ok {
		return hook.Command{}, fmt.Errorf("trickle handler %q: want exec:CMD", name)
	}
	cmd, err := hook.Parse(text, p.Dir)
	if err != nil {
		return cmd, fmt.Errorf("trickle handler: %w", err)
	}
	return cmd, nil
}
