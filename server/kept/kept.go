// Package kept remembers what is dear to find out and anyone may ask for.
package kept

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
)

// A Value is found out when somebody asks, once for all who wait for it at a time, and remembered.
// It is safe for concurrent use.
type Value[T any] struct {
	Find func(context.Context) (T, error)

	// Rest bounds what finding takes: it does not begin again for Rest times as long as it took.
	Rest int

	finding singleflight.Group

	mu     sync.Mutex
	at     time.Time // when finding began
	took   time.Duration
	last   T
	forgot time.Time // what is older is not the value any more
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

// Soon is Get for who cannot wait longer than for some time: it returns an older value then, and
// false if there is none.
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

// Forget has the value found out anew when somebody next asks.
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
