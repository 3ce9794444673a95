//go:build !windows

package installer

import (
	"context"
	"log/slog"
)

// Run runs f, which ends when its context ends. On this system, service managers stop programs by a
// signal, which the caller must catch. They have no log for the program to write to, so f gets a
// nil handler.
func Run(ctx context.Context, f func(context.Context, slog.Handler) error) error { return f(ctx, nil) }
