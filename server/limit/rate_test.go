package web

import (
	"testing"
	"time"
)

func TestRation(t *testing.T) {
	now := time.Unix(1e9, 0)
	r := ration{burst: 3, every: time.Minute}
	for i := range 5 {
		if got, want := r.take(1, now), i < 3; got != want {
			t.Errorf("%d: %v, want %v", i, got, want)
		}
	}
	if !r.take(2, now) {
		t.Error("an account pays for another")
	}
	if now = now.Add(time.Minute); !r.take(1, now) || r.take(1, now) {
		t.Error("after a minute it is not one more")
	}
	r.renew(1)
	for i := range 3 {
		if !r.take(1, now) {
			t.Errorf("%d: the ration is not whole again", i)
		}
	}
	for id := range int64(2 * many) {
		r.take(id, now.Add(time.Duration(id)*time.Hour))
	}
	if n := len(r.has); n > many {
		t.Errorf("%d accounts are remembered that have their whole ration", n)
	}
}
