package settings

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/starling-grid/starling/resource"
)

// A Coproc is a kind of coprocessor that the volunteer declares.
type Coproc struct {
	Type      string  `toml:"type" about:"the name by which projects call it"`
	Count     int     `toml:"count" unit:"devices" about:"how many there are; with opencl, 0: all that OpenCL finds"`
	PeakFlops float64 `toml:"peak_flops" unit:"operations per second" about:"peak speed of one; 0: the value of its driver, or else ten times that of one CPU"`
	Devices   []int   `toml:"device_nums" about:"their numbers, with which applications select one; not set: 0, 1, 2 …"`
	OpenCL    string  `toml:"opencl" about:"the devices in whose name by OpenCL this text occurs, whatever they are, such as pthread for PoCL, which computes on CPUs; empty: the agent need not find them"`
}

// maxCoprocs is the maximum number of kinds.
const maxCoprocs = 7

func (s Settings) checkCoprocs(lines faults) (errs []error) {
	if len(s.Coprocs) > maxCoprocs {
		errs = append(errs, lines.Errorf("coproc", "%d kinds are declared; at most %d are supported", len(s.Coprocs), maxCoprocs))
	}
	seen := make(map[string]bool)
	for _, c := range s.Coprocs {
		key := fmt.Sprintf("coproc %q: ", c.Type)
		switch {
		case c.Type == "":
			errs = append(errs, lines.Errorf("coproc", "type is missing; write type = \"NAME\""))
		case c.Type == string(resource.CPU):
			errs = append(errs, lines.Errorf(key+"type", "CPUs are no coprocessors; set ncpus"))
		case seen[c.Type]:
			errs = append(errs, lines.Errorf(key+"type", "it is declared twice; write count = 2 for two devices"))
		}
		seen[c.Type] = true
		if c.OpenCL != "" && len(c.Devices) > 0 {
			errs = append(errs, lines.Errorf(key+"device_nums", "devices that OpenCL finds are numbered 0, 1, 2 …; remove the line"))
		}
		if c.Count == 0 && c.OpenCL == "" || c.Count < 0 || c.Count > 64 {
			errs = append(errs, lines.Errorf(key+"count", "%d is not between 1 and 64", c.Count))
		}
		if !(c.PeakFlops >= 0 && c.PeakFlops <= 1e18) {
			errs = append(errs, lines.Errorf(key+"peak_flops", "%v is not between 0 and 1e18", c.PeakFlops))
		}
		if len(c.Devices) > 0 && len(c.Devices) != c.Count {
			errs = append(errs, lines.Errorf(key+"device_nums", "%d numbers for %d devices", len(c.Devices), c.Count))
		}
		for i, n := range c.Devices {
			if n < 0 || slices.Contains(c.Devices[:i], n) {
				errs = append(errs, lines.Errorf(key+"device_nums", "%d is negative or there twice", n))
			}
		}
	}
	return errs
}

// An IgnoreGPU keeps all tasks off some of the GPUs that the agent finds.
type IgnoreGPU struct {
	Type    string `toml:"type" about:"kind of GPU: NVIDIA, ATI, intel_gpu or apple_gpu; empty: all"`
	Devices []int  `toml:"device_nums" about:"numbers of the devices; not set: all of that kind"`
}

// IgnoresGPU reports whether a GPU that was found is not to be used.
func (s Settings) IgnoresGPU(kind string, number int) bool {
	return slices.ContainsFunc(s.IgnoreGPUs, func(x IgnoreGPU) bool {
		return (x.Type == "" || x.Type == kind) && (len(x.Devices) == 0 || slices.Contains(x.Devices, number))
	})
}

// SameGPUs reports whether the same coprocessors are looked for and used with both.
func (s Settings) SameGPUs(o Settings) bool {
	return s.NoGPUs == o.NoGPUs && s.UseAllGPUs == o.UseAllGPUs && reflect.DeepEqual(s.Coprocs, o.Coprocs) && reflect.DeepEqual(s.IgnoreGPUs, o.IgnoreGPUs)
}

// An ExcludeGPU keeps a project's tasks off some coprocessors.
type ExcludeGPU struct {
	Type    string `toml:"type" about:"kind of coprocessor, such as NVIDIA; empty: all"`
	Devices []int  `toml:"device_nums" about:"numbers of the devices; not set: all of that kind"`
	App     string `toml:"app" about:"short name of the application that may not use them; empty: all"`
}

// Excluded are the numbers of the devices of a pool that an application may not use.
func (a Account) Excluded(app string, p resource.Pool) (numbers []int) {
	for _, x := range a.ExcludeGPUs {
		if x.Type != "" && x.Type != string(p.Kind) || x.App != "" && x.App != app {
			continue
		}
		for _, d := range p.Devices {
			if len(x.Devices) == 0 || slices.Contains(x.Devices, d.Number) {
				numbers = append(numbers, d.Number)
			}
		}
	}
	return numbers
}
