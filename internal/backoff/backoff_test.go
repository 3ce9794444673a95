package backoff_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/starling-grid/starling/internal/backoff"
)

func TestDelay(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for n := -1; n < 2000; n++ {
		full := 4 * time.Hour
		if n < 8 {
			full = min(full, time.Minute<<max(n, 0))
		}
		d := backoff.Delay(n, time.Minute, 4*time.Hour, rng)
		if d < full/2 || d >= full {
			t.Fatalf("after %d failures: %v, want within [%v, %v)", n, d, full/2, full)
		}
	}
}
