//go:build !windows

package installer

import "context"

// Run runs f, which ends when its context does. Service managers ask with a
// signal here, which is the caller's to catch.
func Run(ctx context.Context, f func(context.Context) error) error { return f(ctx) }
