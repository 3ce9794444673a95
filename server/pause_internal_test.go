package server

import (
	"testing"
	"time"

	"github.com/starling-grid/starling/server/pass"
)

// A daemon with much to do continues at once, unless requests need the computer.
func TestPause(t *testing.T) {
	for _, tt := range []struct {
		took  time.Duration
		items int
		quiet bool
		want  time.Duration
	}{
		{time.Second, pass.Batch, true, 0},
		{time.Second, pass.Batch, false, 100 * time.Millisecond},
		{5 * time.Millisecond, 1, true, 20 * time.Millisecond},
		{time.Microsecond, 0, true, 10 * time.Millisecond},
	} {
		if got := pause(tt.took, tt.items, tt.quiet); got != tt.want {
			t.Errorf("after %v for %d items, quiet: %v: %v, want %v", tt.took, tt.items, tt.quiet, got, tt.want)
		}
	}
	w := newWakeup()
	if w.ring(); !w.quiet() {
		t.Error("a bell that rings for no request is not quiet")
	}
	if w.report(); w.quiet() {
		t.Error("quiet although a request came just now")
	}
}
