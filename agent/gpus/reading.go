package gpus

import "slices"

// A Reading has the values of the sensors of one GPU of the computer.
type Reading struct {
	Kind       string  `json:"kind"`              // by BOINC's name
	PCI        string  `json:"pci"`               // its place, as "0000:01:00.0"
	Celsius    float64 `json:"celsius,omitempty"` // 0: not known
	Busy       float64 `json:"busy"`              // part of the time in which it computed, 0 to 1 (below 0: not known)
	Watts      float64 `json:"watts,omitempty"`   // power of the card (0: not known)
	MemoryUsed int64   `json:"memory_used,omitempty"`
	Memory     int64   `json:"memory,omitempty"` // bytes, MemoryUsed of them by all programs (0 if unknown)
}

// A Measured is a device that tasks may use, with its readings.
type Measured struct {
	Device
	Reading
}

// Measure finds the readings of the devices that tasks may use. A device whose place in the
// computer is not known, such as a declared one, has the first of its kind that no other has.
// Devices without a reading are left out.
func (s Set) Measure(all []Reading) (list []Measured) {
	left := slices.Clone(all)
	take := func(d Device, fits func(Reading) bool) {
		if i := slices.IndexFunc(left, fits); i >= 0 {
			list = append(list, Measured{d, left[i]})
			left = slices.Delete(left, i, i+1)
		}
	}
	for _, placed := range []bool{true, false} {
		for _, g := range s.Groups {
			for _, d := range g.Devices {
				if (d.PCI != "") == placed {
					take(d, func(r Reading) bool { return r.Kind == string(g.Kind) && (r.PCI == d.PCI || !placed) })
				}
			}
		}
	}
	return list
}

// Hottest returns the highest measured temperature, in °C, or 0 without a measurement.
func Hottest(list []Measured) (celsius float64) {
	for _, m := range list {
		celsius = max(celsius, m.Celsius)
	}
	return celsius
}
