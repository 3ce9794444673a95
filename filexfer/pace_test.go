package filexfer

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"
)

// Two transfers share a pace. A pace that is slower than a stall does not count as a stall.
func TestPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewPace()
		p.Set(1000)
		began := time.Now()
		done := make(chan error, 2)
		for range 2 {
			go func() {
				ctx, w, stop := watch(t.Context(), p, nil)
				defer stop()
				n, err := io.Copy(io.Discard, w.of(bytes.NewReader(make([]byte, 500_000))))
				done <- errors.Join(err, cause(ctx, ctx.Err()))
				if n != 500_000 {
					t.Errorf("%d bytes came through", n)
				}
			}()
		}
		for range 2 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		if took := time.Since(began); took < 990*time.Second || took > 1010*time.Second {
			t.Errorf("a million bytes at a thousand a second took %v", took)
		}
	})
}

func TestPaceWithoutABound(t *testing.T) {
	for _, p := range []*Pace{nil, NewPace()} {
		if err := p.wait(t.Context(), 1<<30); err != nil {
			t.Error(err)
		}
	}
	p := NewPace()
	p.Set(1)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.wait(ctx, 100); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
