package limit

import (
	"testing"
	"time"
)

func TestRate(t *testing.T) {
	now := time.Unix(1e9, 0)
	r := Rate[int64]{Burst: 3, Every: time.Minute}
	take := func(k int64) bool {
		_, ok := r.Take(k, now)
		return ok
	}
	for i := range 5 {
		if got, want := take(1), i < 3; got != want {
			t.Errorf("%d: %v, want %v", i, got, want)
		}
	}
	if wait, ok := r.Take(1, now); ok || wait != time.Minute {
		t.Errorf("wait %v, %v", wait, ok)
	}
	if !take(2) {
		t.Error("one pays for another")
	}
	if now = now.Add(time.Minute); !take(1) || take(1) {
		t.Error("after a minute it is not one more")
	}
	r.Renew(1)
	for i := range 3 {
		if !take(1) {
			t.Errorf("%d: the ration is not whole again", i)
		}
	}
	for k := range int64(4 * many) {
		r.Take(k, now.Add(time.Duration(k)*time.Hour))
	}
	if n := len(r.has); n > 2*many {
		t.Errorf("%d are remembered that have their whole ration", n)
	}
	off := Rate[int]{}
	if _, ok := off.Take(1, now); !ok {
		t.Error("what has no limit is refused")
	}
}

// Entries that have not their whole ration yet are not looked at by each request.
func TestRateOfMany(t *testing.T) {
	now := time.Unix(1e9, 0)
	r := Rate[int]{Burst: 10, Every: time.Minute}
	looks, before := 0, 0
	for k := range 64 * many {
		r.Take(k, now)
		if r.look != before {
			looks, before = looks+1, r.look
		}
	}
	if looks > 8 {
		t.Errorf("%d entries were looked at %d times", len(r.has), looks)
	}
	r.Take(-1, now.Add(time.Hour))
	for k := range 128 * many {
		r.Take(k, now.Add(time.Duration(k)*time.Hour))
	}
	if n := len(r.has); n > 2*many {
		t.Errorf("%d are remembered that have their whole ration", n)
	}
}
