package cache_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/starling-grid/starling/server/cache"
)

// counter finds 1, then 2 and so on, each in takes.
func counter(takes time.Duration) *cache.Value[int] {
	n := 0
	return &cache.Value[int]{Rest: 20, Find: func(context.Context) (int, error) {
		<-time.After(takes) // in the test's own time
		n++
		return n, nil
	}}
}

// What took long to find out is kept for longer.
func TestGet(t *testing.T) {
	for _, tt := range []struct {
		name             string
		takes, late, age time.Duration
		forget           bool
		want             int
	}{
		{"a second's work, asked for again at once", time.Second, 0, time.Second, false, 1},
		{"a second's work, a minute later", time.Second, time.Minute, time.Second, false, 2},
		{"ten seconds' work, a minute later", 10 * time.Second, time.Minute, time.Second, false, 1},
		{"who does not mind an old value", time.Second, time.Minute, 10 * time.Minute, false, 1},
		{"forgotten", 10 * time.Second, 0, 10 * time.Minute, true, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v := counter(tt.takes)
				if got, err := v.Get(t.Context(), tt.age); got != 1 || err != nil {
					t.Fatal(got, err)
				}
				if tt.forget {
					v.Forget()
				}
				<-time.After(tt.late)
				if got, err := v.Get(t.Context(), tt.age); got != tt.want || err != nil {
					t.Errorf("got %d, %v; want %d", got, err, tt.want)
				}
			})
		})
	}
}

// All callers that wait while the value is computed get the same one.
func TestOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v, got := counter(time.Second), make(chan int)
		for range 10 {
			go func() {
				n, _ := v.Get(t.Context(), 0)
				got <- n
			}()
		}
		for range 10 {
			if n := <-got; n != 1 {
				t.Errorf("got %d", n)
			}
		}
	})
}

// A caller that cannot wait gets the earlier value, or none.
func TestSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := counter(time.Second)
		soon := func(wait time.Duration, want int, known bool) {
			t.Helper()
			if got, ok := v.Soon(t.Context(), time.Minute, wait); got != want || ok != known {
				t.Errorf("got %d, %t; want %d, %t", got, ok, want, known)
			}
		}
		soon(time.Millisecond, 0, false)
		<-time.After(time.Second)
		soon(time.Millisecond, 1, true)
		<-time.After(time.Hour)
		soon(time.Millisecond, 1, true)
		soon(time.Hour, 2, true)
	})
}

// An error is returned and not kept.
func TestFailure(t *testing.T) {
	wrong := errors.New("no database")
	v := cache.Value[int]{Find: func(context.Context) (int, error) { return 0, wrong }}
	for range 2 {
		if _, err := v.Get(t.Context(), time.Hour); !errors.Is(err, wrong) {
			t.Errorf("got %v", err)
		}
	}
	if _, known := v.Soon(t.Context(), time.Hour, time.Second); known {
		t.Error("a failure counts as known")
	}
}
