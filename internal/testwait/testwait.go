// Package testwait makes a test wait for a condition that nothing announces. Where there is
// an event, such as the end of a process or a message on a channel, a test waits for that
// instead.
package testwait

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"
)

// Patience is the longest wait, and only a test that fails waits this long. On an idle computer
// nothing takes nearly as much. But the tests of several packages share the processors with each
// other and with the compiler, and an application at the lowest priority gets only the rest.
const Patience = 5 * time.Minute

// Until calls done until it returns true. After Patience it fails the test. what names the
// condition, as in "waiting for the agent to answer".
func Until(t testing.TB, what string, done func() bool) {
	t.Helper()
	Try(t, context.WithoutCancel(t.Context()), what, func() error {
		if done() {
			return nil
		}
		return errNotYet
	})
}

var errNotYet = errors.New("not yet")

// Try is Poll for a test, which it fails with the error.
func Try(t testing.TB, ctx context.Context, what string, f func() error) {
	t.Helper()
	if err := Poll(ctx, f); err != nil {
		t.Fatalf("waiting for %s: %v", what, err)
	}
}

// Poll calls f until it returns nil. It returns f's last error when ctx ends first or, if ctx has
// no deadline, after Patience. Between two calls it pauses for a tenth of the time that it has
// waited so far, at most 50 ms. If twelve times the duration of f is longer, it pauses for that
// instead, at most a second, because tests that run programs to check would otherwise take the
// processors from the programs that they wait for.
func Poll(ctx context.Context, f func() error) error {
	if _, limited := ctx.Deadline(); !limited {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, Patience)
		defer cancel()
	}
	for begin := time.Now(); ; {
		called := time.Now()
		err := f()
		if err == nil {
			return nil
		}
		pause := max(min(time.Since(begin)/10, 50*time.Millisecond), min(12*time.Since(called), time.Second), time.Millisecond)
		select {
		case <-ctx.Done():
			return fmt.Errorf("after %v: %w", time.Since(begin).Round(time.Millisecond), err)
		case <-time.After(pause):
		}
	}
}
