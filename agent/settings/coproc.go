package settings

import (
	"fmt"
	"slices"

	"github.com/starling-grid/starling/resource"
)

// A Coproc is a kind of coprocessor that the volunteer declares.
type Coproc struct {
	Type      string  `toml:"type" about:"the name that projects know it by"`
	Count     int     `toml:"count" unit:"devices" about:"how many there are"`
	PeakFlops float64 `toml:"peak_flops" unit:"operations per second" about:"peak speed of one; 0: ten times that of one CPU"`
	Devices   []int   `toml:"device_nums" about:"their numbers, by which applications are told which one to use; not set: 0, 1, 2 …"`
}

// maxCoprocs is how many kinds are told apart.
const maxCoprocs = 7

// unknownWeight is how many CPUs a device of unknown speed counts for.
//
// Source: BOINC client/client_types.cpp, APP_VERSION::parse, for versions without flops.
const unknownWeight = 10

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
		if c.Count < 1 || c.Count > 64 {
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

// Pools are the coprocessors that tasks may use, on a computer of which one CPU does so
// many operations a second.
func (s Settings) Pools(cpu float64) []resource.Pool {
	pools := make([]resource.Pool, 0, len(s.Coprocs))
	for _, c := range s.Coprocs {
		p := resource.Pool{Kind: resource.Kind(c.Type), Weight: unknownWeight}
		if c.PeakFlops > 0 && cpu > 0 {
			p.Weight = c.PeakFlops / cpu
		}
		for i := range c.Count {
			d := resource.Device{Number: i}
			if i < len(c.Devices) {
				d.Number = c.Devices[i]
			}
			p.Devices = append(p.Devices, d)
		}
		pools = append(pools, p)
	}
	return pools
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
