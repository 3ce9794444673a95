package control_test

import (
	"testing"

	"github.com/starling-grid/starling/agent/control"
)

func TestAGPUInWords(t *testing.T) {
	busy := 0.98
	for _, c := range []struct {
		g    control.GPU
		want string
	}{
		{control.GPU{Type: "NVIDIA", Celsius: 71, Busy: &busy, MemoryUsed: 5 << 30, Memory: 12 << 30}, "NVIDIA GPU 0 is at 71 °C, 98% busy, with 5 GB of 12 GB of memory in use"},
		{control.GPU{Type: "ATI", Number: 1, Celsius: 40.4}, "AMD GPU 1 is at 40 °C"},
		{control.GPU{Type: "intel_gpu", Busy: new(float64)}, "Intel GPU 0 is 0% busy"},
	} {
		if got := c.g.String(); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}
