//go:build !linux

package session

import (
	"context"
	"log/slog"
)

// Serve does nothing here: the system itself tells the agent when there was input.
func Serve(context.Context, string, bool, *Roster, *slog.Logger) error { return nil }
