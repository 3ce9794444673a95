package servertest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
)

// NoTest replaces a test in programs and examples. Close has to be called. It panics where a test
// would fail.
type NoTest struct {
	ctx      context.Context
	cleanups []func()
	failed   []error
}

// Outside makes a NoTest.
func Outside(ctx context.Context) *NoTest { return &NoTest{ctx: ctx} }

// Close ends everything that was started, and returns the errors.
func (n *NoTest) Close() error {
	for _, f := range slices.Backward(n.cleanups) {
		f()
	}
	n.cleanups = nil
	return errors.Join(n.failed...)
}

// Helper does nothing.
func (n *NoTest) Helper() {}

// Context returns the context of Outside.
func (n *NoTest) Context() context.Context { return n.ctx }

// Cleanup has Close call f.
func (n *NoTest) Cleanup(f func()) { n.cleanups = append(n.cleanups, f) }

// TempDir makes a folder that is gone after Close.
func (n *NoTest) TempDir() string {
	dir, err := os.MkdirTemp("", "servertest")
	if err != nil {
		n.Fatalf("%v", err)
	}
	n.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// Errorf has Close return an error.
func (n *NoTest) Errorf(format string, args ...any) {
	n.failed = append(n.failed, fmt.Errorf(format, args...))
}

// Fatalf panics.
func (n *NoTest) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
