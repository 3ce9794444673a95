// Package gpus finds the computer's coprocessors and decides which of them tasks may use.
//
// Drivers may crash, hang or print, and loading one requires the C library, which the agent does
// without. So a separate program, starling-detect, asks them, once for each of [Libraries], and
// ends. This package runs it, checks its answers and combines them with the volunteer's
// declarations. It also explains which devices in the computer cannot be used. It computes nothing
// on any device.
//
//	report.go  what starling-detect answers
//	ask.go     running it
//	found.go   the devices that are in the answers
//	speed.go   how fast they are
//	set.go     those that tasks may use
//	cards.go   what is in the computer, whether or not a driver answers
//	nodes.go   the files by which a task gets at its device
//	image.go   further files for a task in a container image
//	reading.go what the devices' sensors read
//	meter.go   keeping a starling-detect that reads those of NVIDIA's driver
package gpus

import "github.com/starling-grid/starling/protocol"

// The arguments of starling-detect: the devices of a library, or, every few seconds until its input
// ends, the readings of NVIDIA's sensors.
const (
	OpenCL        = "opencl"
	NVIDIA        = "nvidia"
	NVIDIASensors = "nvidia-sensors"
)

// Libraries are the libraries that starling-detect can ask for their devices.
var Libraries = []string{OpenCL, NVIDIA}

// A Reply is what starling-detect prints as one line of JSON.
type Reply struct {
	Library   string     `json:"library,omitempty"` // the file that was loaded
	Error     string     `json:"error,omitempty"`   // why there are no devices, or not all
	Missing   bool       `json:"missing,omitempty"` // the library does not exist here
	Platforms []Platform `json:"platforms,omitempty"`
	NVIDIA    *Driver    `json:"nvidia,omitempty"`
	Readings  []Reading  `json:"readings,omitempty"`
}

// A Platform is one of OpenCL's drivers.
type Platform struct {
	Name    string         `json:"name"`
	Vendor  string         `json:"vendor"`
	Version string         `json:"version"`
	Devices []OpenCLDevice `json:"devices,omitempty"`
}

// An OpenCLDevice is a device by OpenCL's word.
type OpenCLDevice struct {
	CPU    bool            `json:"cpu,omitempty"` // it is the computer's own processor
	Kind   string          `json:"kind,omitempty"`
	Number int             `json:"number"` // among all devices of all platforms
	Index  int             `json:"index"`  // among its platform's GPUs and accelerators, or its CPUs
	PCI    string          `json:"pci,omitempty"`
	Board  string          `json:"board,omitempty"` // AMD's name for the card, while Name is the chip's
	Lanes  int             `json:"lanes,omitempty"` // of a compute unit, by AMD's extension (0: unknown)
	Facts  protocol.OpenCL `json:"facts"`
}

// A Driver describes NVIDIA's driver.
type Driver struct {
	Version string         `json:"version,omitempty"` // "550.90.07"
	CUDA    int            `json:"cuda"`              // as 12040 for 12.4
	Devices []NVIDIADevice `json:"devices,omitempty"`
}

// An NVIDIADevice is a device by CUDA's word. Its number is its place.
type NVIDIADevice struct {
	Name            string `json:"name"`
	Memory          int64  `json:"memory"` // bytes
	Major           int    `json:"major"`  // compute capability
	Minor           int    `json:"minor"`
	ClockKHz        int    `json:"clock_khz"`
	Multiprocessors int    `json:"multiprocessors"`
	PCI             string `json:"pci,omitempty"`
}

// A Report has all known facts about the coprocessors in the computer. The zero Report is of a
// computer that was not examined.
type Report struct {
	OpenCL Answer
	NVIDIA Answer
	Cards  []Card
}

// An Answer is the outcome of asking one library.
type Answer struct {
	Reply
	// Failure is why there is no reply, in a sentence: it crashed, hung or printed something else.
	// Unlike Reply.Error it does not describe the computer's devices.
	Failure string
}

// After returns the report with an earlier one's replies for the libraries that did not answer this
// time. A driver that hangs once does not take a device away from tasks that run on it.
func (r Report) After(before Report) Report {
	for _, a := range []struct{ now, then *Answer }{{&r.OpenCL, &before.OpenCL}, {&r.NVIDIA, &before.NVIDIA}} {
		if a.now.Failure != "" && a.then.Failure == "" {
			a.now.Reply = a.then.Reply
		}
	}
	return r
}
