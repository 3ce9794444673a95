package gpus

import (
	"slices"

	"github.com/starling-grid/starling/resource"
)

// Access is the part of the file system that a task needs to compute on devices, in addition to the
// part open to every task.
type Access struct {
	Devices []string // files of devices, to be opened, written and controlled
	Read    []string // files and folders
	List    []string // folders, whose names alone are to be seen
}

// OpenCLDrivers is the folder that names OpenCL's drivers. Tasks on the CPUs need it too
// where OpenCL offers these.
const OpenCLDrivers = "/etc/OpenCL"

// Access returns the access for a task on devices of a kind. It includes all devices of the kind
// that tasks may use, not only those assigned to the task. A driver that counts devices leaves out
// those that it cannot open, so the number given to the application would mean a different device.
func (s Set) Access(k resource.Kind) (a Access) {
	g := s.Of(k)
	if g == nil {
		return a
	}
	places := g.places()
	if slices.ContainsFunc(g.Devices, func(d Device) bool { return d.OpenCL != nil }) {
		a.Read = append(a.Read, OpenCLDrivers)
	}
	if slices.Contains(vendors, k) || len(places) > 0 {
		nodes(&a, k, places)
	}
	return a
}
