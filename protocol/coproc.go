package protocol

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/starling-grid/starling/protocol/bxml"
)

// A Coproc describes the coprocessors of one kind that a host has, and the work that it requests
// for them.
//
// Source: BOINC lib/coproc.cpp, as far as servers read the elements.
type Coproc struct {
	Kind      string // BOINC's name for it: NVIDIA, ATI, intel_gpu, apple_gpu, or any other
	Count     int
	Name      string
	Memory    float64 // bytes of the smallest device that tasks may use, or 0 if unknown
	PeakFlops float64 // of one device
	Version   string  // of the driver: drvVersion (NVIDIA) or CALVersion (AMD)
	CUDA      int     // version of CUDA, such as 12040 for 12.4, or 0 without CUDA
	Major     int     // compute capability (NVIDIA)
	Minor     int
	Target    int     // AMD's number of the family
	Metal     int     // version that Apple's devices support, as BOINC counts it, or 0 if unknown
	ATILibs   bool    // AMD's driver has libraries of the old names
	AMDLibs   bool    // AMD's driver has libraries of the newer names
	OpenCL    *OpenCL // nil without OpenCL

	ReqSeconds   float64 // device-seconds wanted: more than 0 requests work
	ReqInstances float64 // idle devices to fill
	Delay        time.Duration
}

// An OpenCL is OpenCL's description of a device.
type OpenCL struct {
	Name, Vendor    string
	VendorID        int
	PlatformVersion string // "OpenCL 3.0 CUDA 12.4.131"
	DeviceVersion   string
	DriverVersion   string
	GlobalMem       float64 // bytes
	LocalMem        float64
	ComputeUnits    int
	ClockMHz        int
	HalfFP          uint64 // capabilities as bit fields, or 0 without support
	SingleFP        uint64
	DoubleFP        uint64
	LittleEndian    bool
	Execution       uint64 // capabilities: bit 0 kernels, bit 1 native kernels
	Extensions      string
	Major, Minor    int // compute capability, on NVIDIA's devices
}

// An OpenCLCPU is OpenCL's description of a computer's processors.
type OpenCLCPU struct {
	Platform string // the driver's vendor, as it calls itself
	OpenCL
}

// maxOpenCLCPUs is the maximum number of these that are read.
const maxOpenCLCPUs = 8

func scanOpenCLCPU(s *bxml.Scanner) (c OpenCLCPU) {
	for name := range s.Children() {
		switch name {
		case "platform_vendor":
			c.Platform = s.Line(maxText)
		case "opencl_cpu_info":
			c.OpenCL = *scanOpenCL(s)
		}
	}
	return c
}

func (c *OpenCLCPU) write(w *bxml.Writer) {
	w.Open("opencl_cpu_prop")
	w.Text("platform_vendor", cmp.Or(c.Platform, "unknown")) // BOINC's server ignores an element without it
	c.writeAs(w, "opencl_cpu_info")
	w.Close("opencl_cpu_prop")
}

// maxCoprocs is the maximum number of kinds of coprocessors that are read.
const maxCoprocs = 16

// maxExtensions is the maximum length, in bytes, of a device's list of extensions.
const maxExtensions = 1200

// elements are the names of the elements for kinds that have their own.
var elements = map[string]string{
	nvidia: "coproc_cuda", ati: "coproc_ati", "intel_gpu": "coproc_intel_gpu", "apple_gpu": "coproc_apple_gpu",
}

const (
	nvidia = "NVIDIA"
	ati    = "ATI"
)

// kindOf returns the kind that an element describes. It is "" for the general element, which
// contains the kind.
func kindOf(element string) (k string, ok bool) {
	for k, name := range elements {
		if name == element {
			return k, true
		}
	}
	return "", element == "coproc"
}

// WantsWork reports whether work is requested.
func (c *Coproc) WantsWork() bool { return c.ReqSeconds > 0 || c.ReqInstances > 0 }

func scanCoprocs(s *bxml.Scanner) (all []Coproc) {
	for name := range s.Children() {
		kind, ok := kindOf(name)
		if !ok || len(all) == maxCoprocs {
			continue
		}
		if c := scanCoproc(s, kind); c.Kind != "" && c.Kind != "CPU" && c.Count > 0 {
			all = append(all, c)
		}
	}
	return all
}

func scanCoproc(s *bxml.Scanner, kind string) Coproc {
	c := Coproc{Kind: kind}
	for name := range s.Children() {
		switch name {
		case "type":
			if kind == "" {
				c.Kind = s.Line(maxText)
			}
		case "count":
			scanInt(s, &c.Count)
			c.Count = max(0, min(c.Count, 1024))
		case "name":
			c.Name = s.Line(maxText)
		case "available_ram":
			s.Float(&c.Memory)
		case "peak_flops":
			s.Float(&c.PeakFlops)
		case "drvVersion", "CALVersion":
			c.Version = s.Line(maxText)
		case "cudaVersion":
			scanInt(s, &c.CUDA)
		case "major":
			scanInt(s, &c.Major)
		case "minor":
			scanInt(s, &c.Minor)
		case "target":
			scanInt(s, &c.Target)
		case "metal_support":
			scanInt(s, &c.Metal)
		case "atirt_detected":
			c.ATILibs = s.Flag()
		case "amdrt_detected":
			c.AMDLibs = s.Flag()
		case "req_secs":
			s.Float(&c.ReqSeconds)
		case "req_instances":
			s.Float(&c.ReqInstances)
		case "estimated_delay":
			scanSpan(s, &c.Delay)
		case "coproc_opencl":
			c.OpenCL = scanOpenCL(s)
		}
	}
	c.Memory = max(0, min(c.Memory, maxBytes))
	c.PeakFlops = max(0, min(c.PeakFlops, maxFpops))
	return c
}

func scanOpenCL(s *bxml.Scanner) *OpenCL {
	var o OpenCL
	for name := range s.Children() {
		switch name {
		case "name":
			o.Name = s.Line(maxText)
		case "vendor":
			o.Vendor = s.Line(maxText)
		case "vendor_id":
			scanInt(s, &o.VendorID)
		case "half_fp_config":
			scanBits(s, &o.HalfFP)
		case "single_fp_config":
			scanBits(s, &o.SingleFP)
		case "endian_little":
			o.LittleEndian = s.Flag()
		case "execution_capabilities":
			scanBits(s, &o.Execution)
		case "extensions":
			o.Extensions = s.Line(maxExtensions)
		case "opencl_platform_version":
			o.PlatformVersion = s.Line(maxText)
		case "opencl_device_version":
			o.DeviceVersion = s.Line(maxText)
		case "opencl_driver_version":
			o.DriverVersion = s.Line(maxText)
		case "global_mem_size":
			s.Float(&o.GlobalMem)
		case "local_mem_size":
			s.Float(&o.LocalMem)
		case "max_compute_units":
			scanInt(s, &o.ComputeUnits)
		case "max_clock_frequency":
			scanInt(s, &o.ClockMHz)
		case "double_fp_config":
			scanBits(s, &o.DoubleFP)
		case "nv_compute_capability_major":
			scanInt(s, &o.Major)
		case "nv_compute_capability_minor":
			scanInt(s, &o.Minor)
		}
	}
	return &o
}

// scanBits reads a bit field. Invalid text is 0.
func scanBits(s *bxml.Scanner, to *uint64) {
	*to, _ = strconv.ParseUint(strings.TrimSpace(s.Head(maxText)), 10, 64)
}

// CoprocsXML returns the <coprocs> element, or "" without coprocessors.
func CoprocsXML(all []Coproc) string {
	return text(func(w *bxml.Writer) { writeCoprocs(w, all) })
}

func writeCoprocs(w *bxml.Writer, all []Coproc) {
	if len(all) == 0 {
		return
	}
	w.Open("coprocs")
	for _, c := range all {
		c.write(w)
	}
	w.Close("coprocs")
}

func (c *Coproc) write(w *bxml.Writer) {
	name, own := elements[c.Kind]
	if !own {
		name = "coproc"
	}
	w.Open(name)
	if !own {
		w.Text("type", c.Kind)
	}
	w.Int("count", int64(c.Count))
	if own {
		w.Text("name", c.Name)
		w.Float("available_ram", c.Memory)
	}
	switch c.Kind {
	case nvidia:
		w.Bool("have_cuda", c.CUDA > 0)
	case ati:
		w.Bool("have_cal", c.Version != "")
	}
	if own {
		w.Bool("have_opencl", c.OpenCL != nil)
	}
	w.Float("req_secs", c.ReqSeconds)
	w.Float("req_instances", c.ReqInstances)
	w.Float("estimated_delay", c.Delay.Seconds())
	w.Float("peak_flops", c.PeakFlops)
	switch c.Kind {
	case nvidia:
		w.Int("cudaVersion", int64(c.CUDA))
		w.TextIf("drvVersion", c.Version)
		w.Float("totalGlobalMem", c.Memory)
		w.Int("major", int64(c.Major))
		w.Int("minor", int64(c.Minor))
	case ati:
		w.TextIf("CALVersion", c.Version)
		w.Int("target", int64(c.Target))
		w.Int("localRAM", int64(c.Memory)>>20)
	}
	if c.OpenCL != nil {
		c.OpenCL.writeAs(w, "coproc_opencl")
	}
	w.Close(name)
}

func (o *OpenCL) writeAs(w *bxml.Writer, element string) {
	w.Open(element)
	w.Text("name", o.Name)
	w.Text("vendor", o.Vendor)
	w.Int("vendor_id", int64(o.VendorID))
	w.Bool("available", true)
	bits := func(name string, v uint64) { w.Text(name, strconv.FormatUint(v, 10)) }
	bits("half_fp_config", o.HalfFP)
	bits("single_fp_config", o.SingleFP)
	bits("double_fp_config", o.DoubleFP)
	w.Bool("endian_little", o.LittleEndian)
	bits("execution_capabilities", o.Execution)
	w.Text("extensions", o.Extensions)
	w.Int("global_mem_size", int64(o.GlobalMem))
	w.Int("local_mem_size", int64(o.LocalMem))
	w.Int("max_clock_frequency", int64(o.ClockMHz))
	w.Int("max_compute_units", int64(o.ComputeUnits))
	w.Int("nv_compute_capability_major", int64(o.Major))
	w.Int("nv_compute_capability_minor", int64(o.Minor))
	w.Text("opencl_platform_version", o.PlatformVersion)
	w.Text("opencl_device_version", o.DeviceVersion)
	w.Text("opencl_driver_version", o.DriverVersion)
	w.Close(element)
}
