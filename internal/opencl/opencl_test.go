package opencl_test

import (
	"strings"
	"testing"

	"github.com/starling-grid/starling/internal/opencl"
)

// devices returns the OpenCL devices of this computer. It skips the test if there are none.
func devices(t *testing.T) (*opencl.Library, []opencl.Device) {
	t.Helper()
	lib, err := opencl.Open()
	if err != nil {
		t.Skipf("no OpenCL here: %v", err)
	}
	platforms, err := lib.Platforms()
	if err != nil {
		t.Skipf("no OpenCL here: %v", err)
	}
	var all []opencl.Device
	for _, p := range platforms {
		if p.Name == "" || p.Vendor == "" || !strings.HasPrefix(p.Version, "OpenCL ") {
			t.Errorf("platform %+v", p)
		}
		some, err := p.Devices(opencl.CPU | opencl.GPU | opencl.Accelerator)
		if err != nil {
			t.Error(err)
		}
		all = append(all, some...)
	}
	if len(all) == 0 {
		t.Skip("no OpenCL device here")
	}
	return lib, all
}

func TestFactsOfARealDevice(t *testing.T) {
	_, all := devices(t)
	for _, d := range all {
		if d.Text(opencl.Name) == "" || !strings.HasPrefix(d.Text(opencl.Version), "OpenCL ") || d.Text(opencl.DriverVersion) == "" {
			t.Errorf("name %q, version %q, driver %q", d.Text(opencl.Name), d.Text(opencl.Version), d.Text(opencl.DriverVersion))
		}
		if d.Number(opencl.GlobalMemory) < 1<<20 || d.Number(opencl.ComputeUnits) < 1 {
			t.Errorf("memory %d, compute units %d", d.Number(opencl.GlobalMemory), d.Number(opencl.ComputeUnits))
		}
		if d.Text(opencl.Key(0xBAD)) != "" || d.Number(opencl.Key(0xBAD)) != 0 {
			t.Error("a fact that there is none of has a value")
		}
	}
}

func TestARealDeviceComputes(t *testing.T) {
	lib, all := devices(t)
	d, err := lib.Choose("any", len(all)-1)
	if err != nil {
		t.Fatal(err)
	}
	const items = 1000
	k, err := d.Compile(`kernel void f(global ulong *out, ulong a, ulong b) { size_t i = get_global_id(0); out[i] = a * i + b; }`, "f", 8*items)
	if err != nil {
		t.Fatal(err)
	}
	out := make([]byte, 8*items)
	for _, arg := range []uint64{3, 1 << 40} {
		if err := k.Run(items, out, arg, 7); err != nil {
			t.Fatal(err)
		}
		for i, got := range opencl.Words(out) {
			if want := arg*uint64(i) + 7; got != want {
				t.Fatalf("item %d: got %d, want %d", i, got, want)
			}
		}
	}
	if err := k.Run(items, out[:8], 1, 1); err == nil {
		t.Error("a buffer of another size is taken")
	}
	if _, err := d.Compile("kernel void f(", "f", 8); err == nil || !strings.Contains(err.Error(), "clBuildProgram") {
		t.Errorf("what does not compile: %v", err)
	}
	if _, err := lib.Choose("any", len(all)); err == nil {
		t.Error("there is a device beyond the last")
	}
}

func TestKindOfAVendor(t *testing.T) {
	for vendor, want := range map[string]string{
		"NVIDIA Corporation": "NVIDIA", "Advanced Micro Devices, Inc.": "ATI", "AMD": "ATI",
		"Intel(R) Corporation": "intel_gpu", "Apple": "apple_gpu", "The pocl project": "", "QUALCOMM": "", "": "",
	} {
		if got := opencl.KindOf(vendor); got != want {
			t.Errorf("%s: got %q, want %q", vendor, got, want)
		}
	}
}
