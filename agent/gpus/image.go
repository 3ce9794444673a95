package gpus

import (
	"slices"

	"github.com/starling-grid/starling/resource"
)

// Shared is the part of the computer that a task in a container image uses to compute on devices, in
// addition to Access.Devices.
type Shared struct {
	Shown     []Shown
	Libraries string // folder in which its programs find libraries of the driver, "" if the image has them
}

// Shown is a file or folder that such a task sees, read-only, as in executor.Shown.
type Shown struct{ At, From, Link string }

// A MissingError names a file that tasks in images need, and that is missing.
type MissingError struct{ File string }

func (e *MissingError) Error() string { return "the GPU's driver has no " + e.File }

// InImage returns what tasks in images share for devices of a kind. Drivers may change at any time,
// so the caller asks before each start. Its error is a *MissingError.
func (s Set) InImage(k resource.Kind) (Shared, error) {
	g := s.Of(k)
	if g == nil || !slices.Contains(vendors, k) {
		return Shared{}, nil
	}
	if len(s.Access(k).Devices) == 0 {
		if k == resource.NVIDIA {
			return Shared{}, &MissingError{"/dev/nvidia0"}
		}
		return Shared{}, &MissingError{"/dev/dri/renderD128"}
	}
	return inImage(k, g.places())
}

// places returns the places of its devices on the bus, as far as they are known.
func (g *Group) places() []string {
	places := make([]string, 0, len(g.Devices))
	for _, d := range g.Devices {
		if d.PCI != "" && !slices.Contains(places, d.PCI) {
			places = append(places, d.PCI)
		}
	}
	return places
}
