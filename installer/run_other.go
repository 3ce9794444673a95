//go:build !windows

package installer

import (
	"context"
	"log/slog"
)

// Run runs f, which ends when its context does. Service managers ask with a
// signal here, which is the caller's to catch, and there is no record of theirs to be
// written, nil.
func Run(ctx context.Context, f func(context.Context, slog.Handler) error) error { return f(ctx, nil) }
