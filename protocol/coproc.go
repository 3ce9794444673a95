package protocol

import (
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
	// NoImages is set if the host runs container images, and tasks in them cannot use these
	// coprocessors. It is Starling's own element, <starling_no_images/>.
	NoImages bool

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

func (c *OpenCLCPU) fields(x bxml.Codec) {
	x.WriteIf(c.Platform != "").Line("platform_vendor", &c.Platform, maxText)
	if w := x.Writing(); w != nil && c.Platform == "" {
		w.Text("platform_vendor", "unknown") // BOINC's server ignores an element without it
	}
	part(x, "opencl_cpu_info", &c.OpenCL)
}

// maxCoprocs is the maximum number of kinds of coprocessors that are read.
const maxCoprocs = 16

// maxExtensions is the maximum length, in bytes, of a device's list of extensions.
const maxExtensions = 1200

// maxDevices is the largest number of devices that is read.
const maxDevices = 1024

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
		c := Coproc{Kind: kind}
		s.Fields(func(x bxml.Codec) {
			if kind == "" {
				x.Line("type", &c.Kind, maxText)
			}
			c.fields(x)
		})
		if c.Kind != "" && c.Kind != "CPU" && c.Count > 0 {
			all = append(all, c)
		}
	}
	return all
}

// CoprocsXML returns the <coprocs> element, or "" without coprocessors.
func CoprocsXML(all []Coproc) string {
	var w bxml.Writer
	writeCoprocs(&w, all)
	return string(w.Bytes())
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
	if name, own := elements[c.Kind]; own {
		w.Element(name, c.fields)
		return
	}
	w.Open("coproc")
	w.Text("type", c.Kind)
	w.Fields(c.fields)
	w.Close("coproc")
}

func (c *Coproc) fields(x bxml.Codec) {
	read, own := x.WriteIf(false), x
	if x.Writing() != nil {
		own = x.WriteIf(elements[c.Kind] != "")
	}
	nv, amd := x.WriteIf(c.Kind == nvidia), x.WriteIf(c.Kind == ati)
	integer(x, "count", &c.Count)
	if x.Reading("count") != nil {
		c.Count = max(0, min(c.Count, maxDevices))
	}
	own.Line("name", &c.Name, maxText)
	bounded(own, "available_ram", &c.Memory, maxBytes)
	nv.WriteBool("have_cuda", c.CUDA > 0)
	amd.WriteBool("have_cal", c.Version != "")
	own.WriteBool("have_opencl", c.OpenCL != nil)
	x.Float("req_secs", &c.ReqSeconds)
	x.Float("req_instances", &c.ReqInstances)
	span(x, "estimated_delay", &c.Delay)
	bounded(x, "peak_flops", &c.PeakFlops, maxFpops)
	integer(nv, "cudaVersion", &c.CUDA)
	nv.Optional().Line("drvVersion", &c.Version, maxText)
	nv.WriteFloat("totalGlobalMem", c.Memory)
	integer(nv, "major", &c.Major)
	integer(nv, "minor", &c.Minor)
	amd.Optional().Line("CALVersion", &c.Version, maxText)
	integer(amd, "target", &c.Target)
	amd.WriteInt("localRAM", int64(c.Memory)>>20)
	integer(read, "metal_support", &c.Metal)
	read.Flag("atirt_detected", &c.ATILibs)
	read.Flag("amdrt_detected", &c.AMDLibs)
	x.Flag("starling_no_images", &c.NoImages)
	if x.Reading("coproc_opencl") != nil {
		c.OpenCL = new(OpenCL)
	}
	if c.OpenCL != nil {
		x.Element("coproc_opencl", c.OpenCL.fields)
	}
}

func (o *OpenCL) fields(x bxml.Codec) {
	x.Line("name", &o.Name, maxText)
	x.Line("vendor", &o.Vendor, maxText)
	integer(x, "vendor_id", &o.VendorID)
	x.WriteBool("available", true)
	bits(x, "half_fp_config", &o.HalfFP)
	bits(x, "single_fp_config", &o.SingleFP)
	bits(x, "double_fp_config", &o.DoubleFP)
	x.Bool("endian_little", &o.LittleEndian)
	bits(x, "execution_capabilities", &o.Execution)
	x.Line("extensions", &o.Extensions, maxExtensions)
	wholeFloat(x, "global_mem_size", &o.GlobalMem)
	wholeFloat(x, "local_mem_size", &o.LocalMem)
	integer(x, "max_clock_frequency", &o.ClockMHz)
	integer(x, "max_compute_units", &o.ComputeUnits)
	integer(x, "nv_compute_capability_major", &o.Major)
	integer(x, "nv_compute_capability_minor", &o.Minor)
	x.Line("opencl_platform_version", &o.PlatformVersion, maxText)
	x.Line("opencl_device_version", &o.DeviceVersion, maxText)
	x.Line("opencl_driver_version", &o.DriverVersion, maxText)
}
