package testwait_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/starling-grid/starling/internal/testwait"
)

func TestUntil(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin, calls := time.Now(), 0
		testwait.Until(t, "half a minute to pass", func() bool {
			calls++
			return time.Since(begin) > 30*time.Second
		})
		if took := time.Since(begin); took > 31*time.Second || calls > 700 {
			t.Errorf("took %v and %d calls", took, calls)
		}
	})
}

// A failing keeps the failure of a test.
type failing struct {
	testing.TB
	text string
}

func (f *failing) Fatalf(format string, args ...any) {
	f.text = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

func TestFailures(t *testing.T) {
	for _, tt := range []struct {
		name string
		wait func(ctx context.Context, t testing.TB)
		took time.Duration
		want string
	}{
		{"a condition that never comes", func(_ context.Context, t testing.TB) {
			testwait.Until(t, "something", func() bool { return false })
		}, testwait.Patience, "waiting for something: after 5m0s: not yet"},
		{"an error that lasts longer than the context", func(ctx context.Context, t testing.TB) {
			testwait.Try(t, ctx, "something", func() error { return errors.New("refused") })
		}, time.Second, "waiting for something: after 1s: refused"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				f := &failing{TB: t}
				begin, ended := time.Now(), make(chan struct{})
				go func() {
					defer close(ended)
					tt.wait(ctx, f)
				}()
				<-ended
				if took := time.Since(begin); took != tt.took || f.text != tt.want {
					t.Errorf("after %v: %s", took, f.text)
				}
			})
		})
	}
}
