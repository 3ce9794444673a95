//go:build !linux

package session

import (
	"context"
	"log/slog"
)

// Serve does nothing here, because the agent gets the time of the last input from the system.
func Serve(context.Context, string, bool, *Roster, *slog.Logger) error { return nil }
