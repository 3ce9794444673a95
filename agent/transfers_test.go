package agent

import (
	"context"
	"testing"
	"time"

	"github.com/starling-grid/starling/prefs"
	"github.com/starling-grid/starling/state"
)

// While the network is not to be used no transfer begins, and those under way are
// broken off.
func TestTransfersStopWithTheNetwork(t *testing.T) {
	a := clocked(t)
	a.prefs = prefs.Merge()
	a.save(func(tx *state.Tx) {
		a.db.Hosts.Put(tx, state.Self, state.Host{NetMode: prefs.Mode{Kind: prefs.Never}})
	})
	ctx, cancel := context.WithCancel(t.Context())
	a.moving = map[string]*transfer{"f": {cancel: cancel}}
	w := waker{time.Now().Add(time.Minute)}
	a.startTransfers(time.Now(), &w)
	if ctx.Err() == nil {
		t.Error("a transfer goes on")
	}
}
