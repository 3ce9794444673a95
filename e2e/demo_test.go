package e2e_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/starling-grid/starling/internal/testhost"
)

// TestDemo runs a small version of "make demo": on the CPUs, on declared coprocessors, and with
// OpenCL.
func TestDemo(t *testing.T) {
	t.Parallel()
	for _, gpu := range []string{"", "fake", "pocl"} {
		t.Run("gpu="+gpu, func(t *testing.T) {
			t.Parallel()
			if gpu == "pocl" {
				pocl(t)
				demonstrate(t, []string{"1 of 1 workunits done", "collatz_1_0", "collatz_1_1", "longest 837799 with 524 steps", "Credit granted: 0.0"}, "-gpu", gpu)
				return
			}
			demo(t, "-gpu", gpu)
		})
	}
}

func demo(t *testing.T, args ...string) {
	t.Helper()
	demonstrate(t, []string{
		"1 of 1 workunits done", "lucas_lehmer_11213_0", "lucas_lehmer_11213_1", "Mersenne primes found: 2^11213−1", "Credit granted: 0.0",
	}, args...)
}

// demonstrate runs the demo and looks for texts in its output.
func demonstrate(t *testing.T, want []string, args ...string) {
	t.Helper()
	args = append([]string{"-bin", string(bin), "-dir", filepath.Join(t.TempDir(), "demo"), "-n", "1", "-light"}, args...)
	out, err := bin.Run(patience(t), nil, testhost.Demo, args...)
	must(t, err)
	for _, want := range want {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in what it printed:\n%s", want, out)
		}
	}
}
