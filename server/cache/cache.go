// Package cache caches values that are expensive to compute and that anyone may request.
package cache

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
)

// A Value is computed on request, once for all who wait for it at a time, and remembered. It is
// safe for concurrent use.
type Value[T any] struct {
	Find func(context.Context) (T, error)

	// Rest bounds what finding takes: it does not begin again for Rest times as long as it took.
	Rest int

	finding singleflight.Group

	mu     sync.Mutex
	at     time.Time // when finding began
	took   time.Duration
	last   T
	forgot time.Time // older values are not valid any more
}

// Get returns the value as it was at most age ago, or as it was last found if that takes long.
func (v *Value[T]) Get(ctx context.Context, age time.Duration) (T, error) {
	if t, ok := v.recent(age); ok {
		return t, nil
	}
	found := <-v.find(ctx)
	t, _ := found.Val.(T)
	return t, found.Err
}

// Soon is like Get for callers that can wait only for a limited time. After that time it returns an
// older value, or false if it has none.
func (v *Value[T]) Soon(ctx context.Context, age, wait time.Duration) (T, bool) {
	if t, ok := v.recent(age); ok {
		return t, true
	}
	select {
	case <-v.find(ctx):
	case <-time.After(wait):
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.last, !v.at.IsZero()
}

// Forget makes the next request compute the value again.
func (v *Value[T]) Forget() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.forgot = time.Now()
}

// recent returns the last value, if it is not older than age or was dear.
func (v *Value[T]) recent(age time.Duration) (T, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	since := time.Since(v.at)
	return v.last, v.at.After(v.forgot) && since >= 0 && since < max(age, time.Duration(v.Rest)*v.took)
}

func (v *Value[T]) find(ctx context.Context) <-chan singleflight.Result {
	return v.finding.DoChan("", func() (any, error) {
		begin := time.Now()
		t, err := v.Find(context.WithoutCancel(ctx))
		if err != nil {
			return t, err
		}
		v.mu.Lock()
		defer v.mu.Unlock()
		v.at, v.took, v.last = begin, time.Since(begin), t
		return t, nil
	})
}
