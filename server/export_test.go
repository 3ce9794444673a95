package server

import (
	"context"
	"testing"
	"time"

	"github.com/starling-grid/starling/server/store"
)

// SetWindow changes for a test within which time a transfer must have moved.
func SetWindow(t *testing.T, d time.Duration) {
	before := window
	window = d
	t.Cleanup(func() { window = before })
}

// App returns an application as the daemons see it.
func (s *Server) App(ctx context.Context, id int64) (store.App, error) { return s.app(ctx, id) }
