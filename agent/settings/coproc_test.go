package settings_test

import (
	"strings"
	"testing"

	"github.com/starling-grid/starling/agent/settings"
)

func TestDeclaredCoprocessors(t *testing.T) {
	for _, c := range []struct{ name, text, wrong string }{
		{"a device", "type = 'x'\ncount = 1", ""},
		{"what OpenCL finds, all of it", "type = 'x'\nopencl = 'pthread'", ""},
		{"what OpenCL finds, one of it", "type = 'x'\nopencl = 'pthread'\ncount = 1", ""},
		{"none", "type = 'x'", "coproc \"x\": count: 0 is not between 1 and 64"},
		{"fewer than none", "type = 'x'\nopencl = 'p'\ncount = -1", "count: -1 is not between 1 and 64"},
		{"numbers for what OpenCL finds", "type = 'x'\nopencl = 'p'\ncount = 1\ndevice_nums = [3]", "remove the line"},
		{"a CPU", "type = 'CPU'\ncount = 1", "set ncpus"},
		{"too few numbers", "type = 'x'\ncount = 2\ndevice_nums = [3]", "1 numbers for 2 devices"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := settings.Load(dir(t, map[string]string{settings.File: "[[coproc]]\n" + c.text + "\n"}))
			if c.wrong == "" != (err == nil) || err != nil && !strings.Contains(err.Error(), c.wrong) {
				t.Errorf("got %v, want %q", err, c.wrong)
			}
		})
	}
}

func TestIgnoredGPUs(t *testing.T) {
	s, err := settings.Load(dir(t, map[string]string{settings.File: "[[ignore_gpu]]\ntype = 'NVIDIA'\ndevice_nums = [1]\n[[ignore_gpu]]\ntype = 'ATI'\n"}))
	if err != nil || !s.IgnoresGPU("NVIDIA", 1) || s.IgnoresGPU("NVIDIA", 0) || !s.IgnoresGPU("ATI", 7) || s.IgnoresGPU("intel_gpu", 0) {
		t.Errorf("got %+v, %v", s.IgnoreGPUs, err)
	}
}
