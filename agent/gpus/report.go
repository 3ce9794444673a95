// Package gpus finds the computer's coprocessors and says which of them tasks may use.
//
// Drivers may crash, hang or print, and to load one takes the C library, which the agent
// does without. So a program of its own, starling-detect, asks them, once for each of
// [Libraries], and ends; this package runs it, judges what it answers, joins that with
// what the volunteer declares, and says in words what is in the computer and cannot be
// used. It computes nothing on any device.
//
//	report.go  what starling-detect answers
//	ask.go     running it
//	found.go   the devices that are in the answers
//	speed.go   how fast they are
//	set.go     those that tasks may use
//	cards.go   what is in the computer, whether or not a driver answers
//	nodes.go   the files by which a task gets at its device
//	reading.go what the devices' sensors read
//	meter.go   keeping a starling-detect that reads those of NVIDIA's driver
package gpus

import "github.com/starling-grid/starling/protocol"

// What starling-detect is asked for: the devices of a library, or, every few seconds until
// its input ends, what the sensors of NVIDIA's read.
const (
	OpenCL        = "opencl"
	NVIDIA        = "nvidia"
	NVIDIASensors = "nvidia-sensors"
)

// Libraries are those whose devices starling-detect can be asked for.
var Libraries = []string{OpenCL, NVIDIA}

// A Reply is what starling-detect prints as one line of JSON.
type Reply struct {
	Library   string     `json:"library,omitempty"` // the file that was loaded
	Error     string     `json:"error,omitempty"`   // why there is nothing, or not all
	Missing   bool       `json:"missing,omitempty"` // there is no such library here
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
	Board  string          `json:"board,omitempty"` // AMD's name for the card; Name is that of its chip
	Lanes  int             `json:"lanes,omitempty"` // of a compute unit, by AMD's extension (0: unknown)
	Facts  protocol.OpenCL `json:"facts"`
}

// A Driver is what NVIDIA's driver says.
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

// A Report is all that is known of what is in the computer. The zero Report is of one that
// nobody looked at.
type Report struct {
	OpenCL Answer
	NVIDIA Answer
	Cards  []Card
}

// An Answer is what came of asking one library.
type Answer struct {
	Reply
	// Failure is why there is no reply, in a sentence: it crashed, hung or printed
	// something else. Unlike Reply.Error it says nothing of what is in the computer.
	Failure string
}

// After is the report with what an earlier one knew of the libraries that were not heard
// this time: a driver that hangs once takes no device away from tasks that run on it.
func (r Report) After(before Report) Report {
	for _, a := range []struct{ now, then *Answer }{{&r.OpenCL, &before.OpenCL}, {&r.NVIDIA, &before.NVIDIA}} {
		if a.now.Failure != "" && a.then.Failure == "" {
			a.now.Reply = a.then.Reply
		}
	}
	return r
}
