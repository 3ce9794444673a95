package gpus

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/resource"
)

// The kinds of GPUs by BOINC's names.
const (
	kindNVIDIA = string(resource.NVIDIA)
	kindATI    = string(resource.ATI)
)

// A Device is a coprocessor that a driver offers.
type Device struct {
	Kind      string // by BOINC's name
	Number    int    // it tells applications which device to use
	Name      string
	Memory    int64   // bytes
	PeakFlops float64 // 0: not known
	Driver    string  // its version, as requests have it
	CUDA      int
	Major     int
	Minor     int
	OpenCL    *protocol.OpenCL // nil if OpenCL did not find it
	// Index is the number of the device in OpenCL, see [OpenCLDevice], or -1 if OpenCL does not
	// have it.
	Index int
	PCI   string // "": not known
}

// Devices returns the GPUs in the answers, by kind and number. An NVIDIA device that both CUDA and
// OpenCL found is one device with CUDA's number. Those that only OpenCL found follow. CPUs are left
// out, and so are devices of vendors for which BOINC has no name.
func (r Report) Devices() []Device {
	var all []Device
	if n := r.NVIDIA.NVIDIA; n != nil {
		for i, d := range n.Devices {
			if d.Major < 1 || d.Major > 100 { // an emulation, or an error
				continue
			}
			all = append(all, Device{
				Kind: kindNVIDIA, Number: i, Name: d.Name, Memory: d.Memory, PCI: d.PCI, Index: -1,
				Driver: driverNumber(n.Version), CUDA: n.CUDA, Major: d.Major, Minor: d.Minor,
				PeakFlops: nvidiaSpeed(d.Major, d.Minor, d.Multiprocessors, 1e3*float64(d.ClockKHz)),
			})
		}
	}
	next := map[string]int{kindNVIDIA: len(all)}
	for _, p := range r.OpenCL.Platforms {
		for _, d := range p.Devices {
			if d.CPU || d.Kind == "" {
				continue
			}
			facts := d.Facts
			facts.PlatformVersion = cmp.Or(facts.PlatformVersion, p.Version)
			if i := same(all, d); i >= 0 {
				all[i].OpenCL, all[i].Index = &facts, d.Index
				continue
			}
			if d.PCI != "" && slices.ContainsFunc(all, func(x Device) bool { return x.Kind == d.Kind && x.PCI == d.PCI }) {
				continue // a second driver for the same card
			}
			x := Device{
				Kind: d.Kind, Number: next[d.Kind], Name: cmp.Or(d.Board, facts.Name), Memory: int64(facts.GlobalMem),
				PeakFlops: openCLSpeed(d), Driver: facts.DriverVersion, OpenCL: &facts, Index: d.Index, PCI: d.PCI,
			}
			if d.Kind == kindNVIDIA {
				x.Driver, x.Major, x.Minor = driverNumber(facts.DriverVersion), facts.Major, facts.Minor
				x.PeakFlops = nvidiaSpeed(facts.Major, facts.Minor, facts.ComputeUnits, 1e6*float64(facts.ClockMHz))
			}
			next[d.Kind]++
			all = append(all, x)
		}
	}
	slices.SortStableFunc(all, func(a, b Device) int {
		return cmp.Or(strings.Compare(a.Kind, b.Kind), cmp.Compare(a.Number, b.Number))
	})
	return all
}

// same returns the index of the CUDA device that is OpenCL's d: the one at the same place, or else
// the first with the same name that is not yet assigned. It returns -1 if there is none.
func same(all []Device, d OpenCLDevice) int {
	return slices.IndexFunc(all, func(x Device) bool {
		if x.Kind != kindNVIDIA || d.Kind != kindNVIDIA || x.CUDA == 0 || x.OpenCL != nil {
			return false
		}
		if x.PCI != "" && d.PCI != "" {
			return x.PCI == d.PCI
		}
		return x.Name == d.Facts.Name
	})
}

// driverNumber returns the version of NVIDIA's driver in the form for requests: 55090 for
// 550.90.07.
//
// Source: BOINC client/gpu_nvidia.cpp, nvidia_driver_version.
func driverNumber(version string) string {
	major, rest, _ := strings.Cut(version, ".")
	minor, _, _ := strings.Cut(rest, ".")
	m, err := strconv.Atoi(major)
	if err != nil {
		return ""
	}
	n, _ := strconv.Atoi((minor + "00")[:2])
	return strconv.Itoa(100*m + n)
}

// CPUs returns the computer's own processors that OpenCL offers.
func (r Report) CPUs() (all []OpenCLDevice) {
	for _, p := range r.OpenCL.Platforms {
		for _, d := range p.Devices {
			if d.CPU {
				all = append(all, d)
			}
		}
	}
	return all
}

// OpenCLCPUs returns the CPUs that OpenCL offers in the form of requests, one for each driver.
func (r Report) OpenCLCPUs() (all []protocol.OpenCLCPU) {
	for _, p := range r.OpenCL.Platforms {
		if i := slices.IndexFunc(p.Devices, func(d OpenCLDevice) bool { return d.CPU }); i >= 0 {
			c := protocol.OpenCLCPU{Platform: p.Vendor, OpenCL: p.Devices[i].Facts}
			c.PlatformVersion = cmp.Or(c.PlatformVersion, p.Version)
			all = append(all, c)
		}
	}
	return all
}

// named returns the devices of all kinds, CPUs included, whose name in OpenCL contains a text, as
// devices of a kind that the volunteer declared.
func (r Report) named(text, kind string) (all []Device) {
	for _, p := range r.OpenCL.Platforms {
		for _, d := range p.Devices {
			if !strings.Contains(strings.ToLower(d.Facts.Name), strings.ToLower(text)) {
				continue
			}
			facts := d.Facts
			facts.PlatformVersion = cmp.Or(facts.PlatformVersion, p.Version)
			all = append(all, Device{
				Kind: kind, Number: len(all), Name: cmp.Or(d.Board, facts.Name), Memory: int64(facts.GlobalMem), PeakFlops: openCLSpeed(d),
				Driver: facts.DriverVersion, OpenCL: &facts, Index: d.Number, PCI: d.PCI,
			})
		}
	}
	return all
}

// compare returns a number above 0 if a device is better than another of the same kind, or below 0
// if it is worse. A loose comparison treats devices as equal if their memory differs little.
//
// Source: BOINC client/gpu_nvidia.cpp, nvidia_compare, and gpu_opencl.cpp, opencl_compare.
func compare(a, b Device, loose bool) int {
	version := func(d Device) float64 {
		if d.OpenCL == nil {
			return 0
		}
		var major, minor int
		_, _ = fmt.Sscanf(d.OpenCL.DeviceVersion, "OpenCL %d.%d", &major, &minor)
		return float64(100*major + minor)
	}
	for _, x := range [][2]float64{
		{float64(a.Major), float64(b.Major)}, {float64(a.Minor), float64(b.Minor)}, {float64(a.CUDA), float64(b.CUDA)}, {version(a), version(b)},
	} {
		if c := cmp.Compare(x[0], x[1]); c != 0 {
			return c
		}
	}
	m, n := float64(a.Memory), float64(b.Memory)
	switch {
	case loose && m > 1.4*n:
		return 1
	case loose && m < 0.7*n:
		return -1
	case loose:
		return 0
	}
	return cmp.Or(cmp.Compare(m, n), cmp.Compare(a.PeakFlops, b.PeakFlops))
}
