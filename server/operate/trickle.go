package operate

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/starling-grid/starling/server/project"
	"github.com/starling-grid/starling/server/store"
)

// maxTrickle bounds a trickle-down message, in bytes.
const maxTrickle = 64 << 10

// SendTrickle leaves a trickle-down message for the application that computes a
// result. Its host gets it at its next contact, once.
func SendTrickle(ctx context.Context, p *project.Project, result, text string, now time.Time) error {
	switch {
	case strings.TrimSpace(text) == "":
		return errors.New("the message is empty")
	case len(text) > maxTrickle:
		return fmt.Errorf("the message has %d bytes; the limit is %d", len(text), maxTrickle)
	case strings.Contains(text, "</trickle_down>") || strings.Contains(text, "</scheduler_reply>"):
		return errors.New("the message contains a tag that clients would read as its end")
	}
	return p.Store.Update(ctx, func(tx *store.Tx) error {
		r, err := tx.ResultByName(result)
		if err != nil {
			return fmt.Errorf("result %s: %w", result, err)
		}
		if r.ServerState != store.InProgress {
			return fmt.Errorf("result %s is not in progress, so no application can receive the message", result)
		}
		_, err = tx.AddMsgToHost(store.MsgToHost{CreateTime: now, HostID: r.HostID, ResultID: r.ID, ResultName: r.Name, XML: text})
		return err
	})
}
