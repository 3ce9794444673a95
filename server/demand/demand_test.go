package demand_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/starling-grid/starling/server/demand"
)

func TestWait(t *testing.T) {
	for _, tt := range []struct{ since, want time.Duration }{
		{0, 30 * time.Second},
		{time.Minute, 30 * time.Second},
		{10 * time.Minute, 5 * time.Minute},
		{119 * time.Minute, 119 * time.Minute / 2},
		{2 * time.Hour, 0},
		{-time.Second, 0},
		{1e6 * time.Hour, 0},
	} {
		if got := demand.Wait(tt.since); got != tt.want {
			t.Errorf("%v after the last work: %v, want %v", tt.since, got, tt.want)
		}
	}
}

// However many hosts ask, and whenever: none returns before it should, and never more than ten a
// second.
func TestHostsComeOneByOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b demand.Book
		now := time.Unix(1_700_000_000, 0)
		came := make(map[int64]int) // by ten seconds
		for range rapid.IntRange(1, 6).Draw(t, "bursts") {
			now = now.Add(time.Duration(rapid.Int64Range(0, int64(10*time.Minute)).Draw(t, "pause")))
			want := time.Duration(rapid.Int64Range(int64(time.Second), int64(time.Hour)).Draw(t, "want"))
			for range rapid.IntRange(1, 3000).Draw(t, "hosts") {
				wait := b.Next(now, want)
				if wait == 0 {
					continue
				}
				if wait < want || wait > 2*time.Hour {
					t.Fatalf("a host that should wait %v waits %v", want, wait)
				}
				at := now.Add(wait).UnixNano() / int64(10*time.Second)
				if came[at]++; came[at] > 100 {
					t.Fatalf("%d hosts come within ten seconds", came[at])
				}
			}
		}
	})
}

// A million hosts find no place, and are left to themselves.
func TestAMillionHostsAreNoStorm(t *testing.T) {
	var b demand.Book
	now, called := time.Unix(1_700_000_000, 0), 0
	for range 1_000_000 {
		if b.Next(now, 30*time.Second) > 0 {
			called++
		}
	}
	if called == 0 || called > 72_000 {
		t.Errorf("%d of a million are called back within two hours", called)
	}
}
