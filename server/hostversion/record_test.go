package hostversion_test

import (
	"testing"
	"time"

	"github.com/starling-grid/starling/server/hostversion"
	"github.com/starling-grid/starling/server/store"
	"pgregory.net/rapid"
)

func failed(h store.HostAppVersion) store.HostAppVersion  { return hostversion.Failed(h, 8) }
func invalid(h store.HostAppVersion) store.HostAppVersion { return hostversion.Invalid(h, 8) }
func valid(h store.HostAppVersion) store.HostAppVersion   { return hostversion.Valid(h, true) }

func TestARecordIsBadAfterFailuresInARow(t *testing.T) {
	for name, fail := range map[string]func(store.HostAppVersion) store.HostAppVersion{"failed": failed, "invalid": invalid} {
		var h store.HostAppVersion
		for n := 1; n <= 4; n++ {
			h = fail(h)
			if got, want := hostversion.Bad(h), n >= 3; got != want {
				t.Errorf("%s, %d in a row: bad %v, want %v", name, n, got, want)
			}
		}
		for range 100 {
			h = fail(h)
		}
		n := 0
		for ; hostversion.Bad(h); n++ {
			h = valid(h)
		}
		if n != 14 {
			t.Errorf("%s for long: good again after %d valid results, want 14", name, n)
		}
	}
}

// The rate is always a share. A failed or invalid result never improves a record, and a valid one
// never worsens it.
func TestTheErrorRateIsAShare(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var h store.HostAppVersion
		for _, good := range rapid.SliceOf(rapid.Bool()).Draw(t, "results") {
			before := h.ErrorRate
			if good {
				h = valid(h)
			} else {
				h = failed(h)
			}
			if r := h.ErrorRate; r < 0 || r > 1 || good && r > before || !good && r < before {
				t.Fatalf("%v after %v, valid: %v", r, before, good)
			}
		}
	})
}

func TestReliable(t *testing.T) {
	var h store.HostAppVersion
	reliable := func() bool { return hostversion.Reliable(h, 2*time.Hour) }
	for n := 1; n <= 10; n++ {
		h = hostversion.Returned(valid(h), time.Hour)
		if got, want := reliable(), n == 10; got != want {
			t.Errorf("after %d valid results: %v, want %v", n, got, want)
		}
	}
	if h.Turnaround != 3600 {
		t.Errorf("turnaround %v, want 3600", h.Turnaround)
	}
	slow := hostversion.Returned(h, 12*time.Hour)
	if slow.Turnaround != 3600*2.1 || hostversion.Reliable(slow, 2*time.Hour) || !hostversion.Reliable(slow, 0) {
		t.Errorf("after a slow one: %+v", slow)
	}
	h = failed(h)
	for n := 1; n <= 7; n++ {
		if got, want := reliable(), false; got != want {
			t.Errorf("%d valid results after a failure: %v, want %v", n-1, got, want)
		}
		h = valid(h)
	}
	if !reliable() {
		t.Errorf("7 valid results after a failure: %+v", h)
	}
}
