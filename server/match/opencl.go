package match

import (
	"fmt"
	"math"

	"github.com/starling-grid/starling/protocol"
)

// byOpenCL returns the requirement that a device or processor does not meet according to its OpenCL
// description, or nil.
func (g *GPU) byOpenCL(o *protocol.OpenCL) *Lack {
	version := openCLVersion(o)
	if lack := within(float64(version), float64(g.MinOpenCLVersion), float64(g.MaxOpenCLVersion), true, "another OpenCL version"); lack != nil {
		return lack
	}
	if version > 0 { // or else nothing is known
		if lack := within(openCLRevision(o), float64(g.MinOpenCLDriverRevision), float64(g.MaxOpenCLDriverRevision), false, "another revision of the OpenCL driver"); lack != nil {
			return lack
		}
	}
	if g.DoublePrecisionFP && o.DoubleFP == 0 {
		return &Lack{Detail: "double precision"}
	}
	return nil
}

// openCLVersion returns the OpenCL version of a device as a number, or 0 if it is unknown.
func openCLVersion(o *protocol.OpenCL) int {
	if o == nil {
		return 0
	}
	var major, minor int
	if n, _ := fmt.Sscanf(o.DeviceVersion, "OpenCL %d.%d", &major, &minor); n != 2 {
		return 0
	}
	return 100*major + minor
}

// openCLRevision returns 100 times the number in the last brackets of a device's version, as in
// "OpenCL 1.2 AMD-APP (1214.3)", or 0 if the version has no such number.
//
// Source: BOINC lib/opencl_boinc.cpp, OPENCL_DEVICE_PROP::get_opencl_driver_revision.
func openCLRevision(o *protocol.OpenCL) float64 {
	_, text := cutLast(o.DeviceVersion, "(")
	var n float64
	if i, _ := fmt.Sscanf(text, "%f", &n); i != 1 {
		return 0
	}
	return math.Round(100 * n)
}
