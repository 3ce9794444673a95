package gpus

import (
	"fmt"
	"slices"

	"github.com/starling-grid/starling/resource"
)

// A Card is a GPU as the system sees it, whether or not a driver lets programs compute on
// it.
type Card struct {
	PCI    string // its place, as "0000:01:00.0"
	Kind   resource.Kind
	Module string // the kernel's driver that has it ("" if none)
	Node   string // the file through which programs access it ("" if there is none)
	// Closed is why this program cannot open Node. It is "" if it can, or if there is no file.
	Closed string
	Group  string // of Node, if members of it may open it
}

// lacks returns why no device of a kind was found, if there is reason to expect one or the driver
// has a fault, together with the remedy. It returns "" if nothing suggests that there is a device.
func (r Report) lacks(k resource.Kind) string {
	i := slices.IndexFunc(r.Cards, func(c Card) bool { return c.Kind == k })
	if i < 0 {
		return r.silent(k)
	}
	c := r.Cards[i]
	here := fmt.Sprintf("There is an %v in this computer, but ", k)
	switch {
	case c.Module == "":
		return here + "the kernel has no driver for it. Install one: " + packages[k] + "."
	case c.Closed != "" && c.Group != "":
		return fmt.Sprintf("%sthe agent cannot open %s (%s). Add the agent's user to the group %s (sudo usermod -aG %s USER) and restart the agent.", here, c.Node, c.Closed, c.Group, c.Group)
	case c.Closed != "":
		return fmt.Sprintf("%sthe agent cannot open %s (%s).", here, c.Node, c.Closed)
	case k == resource.NVIDIA && c.Module != "nvidia":
		return fmt.Sprintf("%sits driver is %s, with which programs cannot compute. Install NVIDIA's: %s.", here, c.Module, packages[k])
	}
	if k == resource.NVIDIA {
		switch n := r.NVIDIA; {
		case n.Failure != "":
			return here + "it cannot be used. " + n.Failure
		case n.Missing:
			return fmt.Sprintf("%sthe library of its driver is missing (%s). Install it: %s.", here, n.Error, packages[k])
		case n.Error != "":
			return fmt.Sprintf("%sits driver answers: %s.", here, n.Error)
		}
	}
	switch o := r.OpenCL; {
	case o.Failure != "":
		return here + "it cannot be used. " + o.Failure
	case o.Missing:
		return fmt.Sprintf("%sthere is no OpenCL. Install it: %s.", here, packages[k])
	}
	return fmt.Sprintf("%sno OpenCL driver offers it. Install one: %s.", here, packages[k])
}

// silent returns why the devices of a kind are unknown if no card of it was seen: its library did
// not answer.
func (r Report) silent(k resource.Kind) string {
	why := r.OpenCL.Failure
	if k == resource.NVIDIA {
		why = r.NVIDIA.Failure
	}
	if why == "" {
		return ""
	}
	return Unheard + " " + why
}

// Unheard starts an explanation if the query failed, so that the presence of a device is unknown.
const Unheard = "It is not known whether there is one."

// packages are the packages with the drivers that programs need for computing.
var packages = map[resource.Kind]string{
	resource.NVIDIA: "nvidia-driver with libcuda1 and nvidia-opencl-icd on Debian, nvidia-driver-VERSION on Ubuntu, akmod-nvidia with xorg-x11-drv-nvidia-cuda from RPM Fusion on Fedora",
	resource.ATI:    "rocm-opencl-runtime from AMD, or mesa-opencl-icd, on Debian and Ubuntu; rocm-opencl on Fedora",
	resource.Intel:  "intel-opencl-icd on Debian and Ubuntu, intel-compute-runtime on Fedora",
}
