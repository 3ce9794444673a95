// Command starling-detect asks one kind of driver for its coprocessors, and prints the answer as
// one line of JSON (package agent/gpus, Reply). Asked for nvidia-sensors, it prints the readings of
// the sensors of NVIDIA's GPUs every ten seconds, until its standard input ends. The agent runs it.
//
// It is a separate program because it loads drivers. These may crash, hang and print, and they need
// the C library, which the agent does without.
//
// Usage: starling-detect opencl | nvidia | nvidia-sensors
package main

import (
	"fmt"
	"os"
	"slices"

	"github.com/starling-grid/starling/agent/gpus"
	"github.com/starling-grid/starling/internal/cuda"
	"github.com/starling-grid/starling/internal/opencl"
	"github.com/starling-grid/starling/internal/version"
	"github.com/starling-grid/starling/protocol"
)

func main() {
	if len(os.Args) != 2 || os.Args[1] != gpus.NVIDIASensors && !slices.Contains(gpus.Libraries, os.Args[1]) {
		fmt.Fprintf(os.Stderr, "starling-detect %s: usage: starling-detect opencl | nvidia | nvidia-sensors\n", version.Version)
		os.Exit(2)
	}
	out, err := own()
	switch {
	case err != nil:
	case os.Args[1] == gpus.NVIDIASensors:
		err = watch(out)
	default:
		err = say(out, probe(os.Args[1]))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "starling-detect:", err)
		os.Exit(1)
	}
	os.Exit(0) // what drivers do at the end is skipped, as far as may be
}

// say prints a reply.
func say(out *os.File, r gpus.Reply) error {
	line, err := r.Line()
	if err == nil {
		_, err = out.Write(line)
	}
	return err
}

// probe asks the drivers.
func probe(library string) gpus.Reply {
	if library == gpus.NVIDIA {
		d, err := cuda.Probe()
		r := gpus.Reply{Error: message(err), Missing: err != nil && d.Library == ""}
		r.Library = d.Library
		if len(d.Devices) > 0 || err == nil {
			r.NVIDIA = &gpus.Driver{Version: d.Version, CUDA: d.CUDA}
		}
		for _, x := range d.Devices {
			r.NVIDIA.Devices = append(r.NVIDIA.Devices, gpus.NVIDIADevice(x))
		}
		return r
	}
	lib, err := opencl.Open()
	if lib == nil {
		return gpus.Reply{Error: message(err), Missing: true}
	}
	r := gpus.Reply{Library: lib.Name}
	platforms, err := lib.Platforms()
	number := 0
	for _, p := range platforms {
		seen := gpus.Platform{Name: p.Name, Vendor: p.Vendor, Version: p.Version}
		every, failed := p.Devices(opencl.CPU | opencl.GPU | opencl.Accelerator)
		if failed != nil {
			err = failed
		}
		index := make(map[bool]int)
		for _, d := range every {
			x := describe(d)
			x.Number, x.Index = number, index[x.CPU]
			number++
			index[x.CPU]++
			if d.Number(opencl.Available) != 0 {
				seen.Devices = append(seen.Devices, x)
			}
		}
		r.Platforms = append(r.Platforms, seen)
	}
	r.Error = message(err)
	return r
}

// describe is a device in full.
func describe(d opencl.Device) gpus.OpenCLDevice {
	n := func(key opencl.Key) int { return int(d.Number(key) & (1<<53 - 1)) }
	x := gpus.OpenCLDevice{
		CPU: opencl.Type(d.Number(opencl.DeviceType))&opencl.CPU != 0, PCI: d.PCI(), Board: d.Text(opencl.BoardNameAMD),
		Lanes: n(opencl.SIMDPerComputeUnitAMD) * n(opencl.SIMDWidthAMD) * n(opencl.SIMDInstructionWidthAMD),
		Facts: protocol.OpenCL{
			Name: d.Text(opencl.Name), Vendor: d.Text(opencl.Vendor), VendorID: n(opencl.VendorID),
			DeviceVersion: d.Text(opencl.Version), DriverVersion: d.Text(opencl.DriverVersion),
			GlobalMem: float64(d.Number(opencl.GlobalMemory)), LocalMem: float64(d.Number(opencl.LocalMemory)),
			ComputeUnits: n(opencl.ComputeUnits), ClockMHz: n(opencl.ClockMHz),
			HalfFP: d.Number(opencl.HalfFP), SingleFP: d.Number(opencl.SingleFP), DoubleFP: d.Number(opencl.DoubleFP),
			LittleEndian: d.Number(opencl.LittleEndian) != 0, Execution: d.Number(opencl.ExecutionCapabilities),
			Extensions: d.Text(opencl.Extensions), Major: n(opencl.CapabilityMajorNV), Minor: n(opencl.CapabilityMinorNV),
		},
	}
	if !x.CPU {
		x.Kind = opencl.KindOf(x.Facts.Vendor)
	}
	return x
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
