package beat

import (
	"testing"
	"time"
)

func TestNext(t *testing.T) {
	for _, c := range []struct{ now, period, want time.Duration }{
		{0, time.Second, time.Second},
		{1, time.Second, time.Second},
		{time.Second - 1, time.Second, time.Second},
		{time.Second, time.Second, 2 * time.Second},
		{9500 * time.Millisecond, 10 * time.Second, 10 * time.Second},
		{9500 * time.Millisecond, 2 * time.Second, 10 * time.Second},
		{9500 * time.Millisecond, time.Second, 10 * time.Second},
	} {
		if got := Next(start.Add(c.now), c.period).Sub(start); got != c.want {
			t.Errorf("after %v the next of each %v is at %v, want %v", c.now, c.period, got, c.want)
		}
	}
}

func TestTicksAreCounted(t *testing.T) {
	before := Wakes()["a test"]
	ticker := NewTicker("a test", time.Millisecond)
	defer ticker.Stop()
	for range 3 {
		<-ticker.C
		ticker.Again(time.Millisecond)
	}
	if n := Wakes()["a test"] - before; n != 3 {
		t.Errorf("%d wake-ups", n)
	}
}
