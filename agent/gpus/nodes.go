package gpus

import (
	"slices"

	"github.com/starling-grid/starling/resource"
)

// Access is what a task needs of the file system to compute on devices, beyond what every
// task may use.
type Access struct {
	Devices []string // files of devices, to be opened, written and controlled
	Read    []string // files and folders
	List    []string // folders, whose names alone are to be seen
}

// OpenCLDrivers is the folder that names OpenCL's drivers. Tasks on the CPUs need it too
// where OpenCL offers these.
const OpenCLDrivers = "/etc/OpenCL"

// Access is what a task on devices of a kind needs. It is all devices of the kind that
// tasks may use, and not only those that the task was given: a driver leaves out the ones
// that it cannot open when it counts, so the number that the application is told would
// mean another one.
func (s Set) Access(k resource.Kind) (a Access) {
	g := s.Of(k)
	if g == nil {
		return a
	}
	places, opencl := make([]string, 0, len(g.Devices)), false
	for _, d := range g.Devices {
		opencl = opencl || d.OpenCL != nil
		if d.PCI != "" && !slices.Contains(places, d.PCI) {
			places = append(places, d.PCI)
		}
	}
	if opencl {
		a.Read = append(a.Read, OpenCLDrivers)
	}
	if slices.Contains(vendors, k) || len(places) > 0 {
		nodes(&a, k, places)
	}
	return a
}
