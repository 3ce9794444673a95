package hostversion_test

import (
	"testing"

	"github.com/starling-grid/starling/server/hostversion"
	"github.com/starling-grid/starling/server/store"
	"pgregory.net/rapid"
)

func failed(h store.HostAppVersion) store.HostAppVersion  { return hostversion.Failed(h) }
func invalid(h store.HostAppVersion) store.HostAppVersion { return hostversion.Invalid(h) }
func valid(h store.HostAppVersion) store.HostAppVersion   { return hostversion.Valid(h, true, 8) }

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

// Whatever happens, the rate is a share; what is no good never betters a record, and what
// is valid never worsens it.
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
