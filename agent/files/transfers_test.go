package files

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/starling-grid/starling/agent/core"
	"github.com/starling-grid/starling/agent/statetest"
	"github.com/starling-grid/starling/agent/usage"
	"github.com/starling-grid/starling/prefs"
	"github.com/starling-grid/starling/state"
)

// While the network must not be used, no transfer starts, and those in progress are canceled.
func TestTransfersStopWithTheNetwork(t *testing.T) {
	db := statetest.Open(t, t.TempDir())
	c := &core.Core{DB: db, Log: slog.New(slog.DiscardHandler), Prefs: prefs.Merge()}
	fs := &Files{Core: c, Presence: &usage.Presence{Core: c}}
	c.Save(func(tx *state.Tx) {
		db.Hosts.Put(tx, state.Self, state.Host{NetMode: prefs.Mode{Kind: prefs.Never}})
	})
	ctx, cancel := context.WithCancel(t.Context())
	fs.transfers = map[string]*transfer{"f": {cancel: cancel}}
	w := core.Waker{At: time.Now().Add(time.Minute)}
	fs.StartTransfers(time.Now(), &w)
	if ctx.Err() == nil {
		t.Error("a transfer continues")
	}
}
