package e2e_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/starling-grid/starling/internal/testhost"
)

// TestDemo runs what "make demo" runs, in small.
func TestDemo(t *testing.T) {
	t.Parallel()
	out, err := bin.Run(patience(t), nil, testhost.Demo, "-bin", string(bin), "-dir", filepath.Join(t.TempDir(), "demo"), "-n", "1")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"1 of 1 workunits done", "lucas_lehmer_44497_0", "lucas_lehmer_44497_1", "Mersenne primes found: 2^44497−1", "Credit granted: 0.0",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in what it printed:\n%s", want, out)
		}
	}
}
