// Package resource describes the processors of a computer, the resources that a task uses, and
// those that are still free. It is policy: values in, values out.
//
// The CPU is one kind of processor among others. A task computes on the CPUs alone, or on
// coprocessors of one kind, which it feeds from a part of a CPU.
package resource

import (
	"slices"
	"strconv"
	"strings"

	"github.com/starling-grid/starling/internal/words"
)

// A Kind is a kind of processor, by BOINC's name for it. Kinds other than these are
// generic: any name that a volunteer and a project agree on.
type Kind string

// The kinds that other BOINC programs use.
//
// Source: BOINC lib/coproc.cpp, proc_type_name_xml.
const (
	CPU    Kind = "CPU"
	NVIDIA Kind = "NVIDIA"
	ATI    Kind = "ATI"
	Intel  Kind = "intel_gpu"
	Apple  Kind = "apple_gpu"
)

// String returns the kind in words for people: "NVIDIA GPU".
func (k Kind) String() string {
	switch k {
	case NVIDIA:
		return "NVIDIA GPU"
	case ATI:
		return "AMD GPU"
	case Intel:
		return "Intel GPU"
	case Apple:
		return "Apple GPU"
	}
	return string(k)
}

// A Device is one coprocessor.
type Device struct {
	Number int   `json:"number"`           // it tells applications which device to use
	Memory int64 `json:"memory,omitempty"` // bytes that tasks may use (0: it is not counted)
}

// A Pool is the coprocessors of one kind that tasks may use.
type Pool struct {
	Kind    Kind     `json:"kind"`
	Devices []Device `json:"devices"`
	// Weight is the peak speed of one device as a multiple of one CPU's: a second on it
	// counts for as many CPU-seconds. 0 means 1.
	Weight float64 `json:"weight,omitempty"`
}

// Factor returns the effective weight.
func (p Pool) Factor() float64 {
	if p.Weight > 0 {
		return p.Weight
	}
	return 1
}

// Find returns the pool of a kind, or one without devices if there is none.
func Find(pools []Pool, k Kind) Pool {
	if i := slices.IndexFunc(pools, func(p Pool) bool { return p.Kind == k }); i >= 0 {
		return pools[i]
	}
	return Pool{Kind: k}
}

// Size returns the computing power of a computer, in CPUs, at least 1. Debts are measured against
// it.
func Size(cpus int, pools []Pool) float64 {
	n := float64(max(cpus, 1))
	for _, p := range pools {
		n += float64(len(p.Devices)) * p.Factor()
	}
	return n
}

// An Absent kind has no device that tasks may use, although they might want one.
type Absent struct {
	Kind Kind   `json:"kind"`
	Why  string `json:"why"` // sentences, and what to do
}

// A Usage is the resources that a task uses while it runs.
type Usage struct {
	CPUs   float64 `json:"cpus,omitempty"`   // 0 means 1, or none if it uses coprocessors
	Memory int64   `json:"memory,omitempty"` // bytes of the computer's
	Coproc *Coproc `json:"coproc,omitempty"` // nil: it computes on the CPUs
	// NonCPUIntensive is set if it needs so little CPU time that it runs in addition to the tasks
	// that fill the CPUs. Only without a Coproc.
	NonCPUIntensive bool `json:"non_cpu_intensive,omitempty"`
}

// A Coproc is a task's use of coprocessors.
type Coproc struct {
	Kind Kind `json:"kind"`
	// Count is the number of devices that it uses. Below 1 it is a part of one, shared with others.
	// From 1 it is a whole number of devices. 0 means 1.
	Count  float64 `json:"count,omitempty"`
	Memory int64   `json:"memory,omitempty"` // bytes on each device
	Except []int   `json:"except,omitempty"` // numbers of devices it may not use
	On     []int   `json:"on,omitempty"`     // it runs: the numbers of the devices it is on
}

// Kind returns the kind of processor that it computes on.
func (u Usage) Kind() Kind {
	if u.Coproc != nil {
		return u.Coproc.Kind
	}
	return CPU
}

// Text returns the usage in words for people: "0.2 CPUs + 1 NVIDIA GPU (device 0)".
func (u Usage) Text() words.Text {
	if u.NonCPUIntensive {
		return words.T("little CPU time")
	}
	n := u.CPUs
	if n <= 0 && u.Coproc == nil {
		n = 1
	}
	cpus := Amount(n, CPU)
	if u.Coproc == nil {
		return cpus
	}
	all := words.Join([]words.Text{cpus, Amount(u.Devices(), u.Kind())}, " + ")
	on := u.Coproc.On
	if len(on) == 0 {
		return all
	}
	numbers := make([]string, len(on))
	for i, n := range on {
		numbers[i] = strconv.Itoa(n)
	}
	return words.T("{resources} (device {numbers})", "resources", all, "numbers", strings.Join(numbers, ", "))
}

// Amount returns a number of processors of a kind in words for people: "2 NVIDIA GPUs".
func Amount(n float64, of Kind) words.Text {
	text := "{amount} {kind}s"
	if n == 1 {
		text = "{amount} {kind}"
	}
	return words.T(text, "amount", strconv.FormatFloat(n, 'g', 3, 64), "kind", of)
}

// Devices returns the number of devices that it uses, above 0, or 0 for a task on the CPUs.
func (u Usage) Devices() float64 {
	switch {
	case u.Coproc == nil:
		return 0
	case u.Coproc.Count <= 0:
		return 1
	case u.Coproc.Count > 1:
		return float64(int(u.Coproc.Count))
	}
	return u.Coproc.Count
}

// Speed returns the number of CPU-seconds that a second of the task counts for, on a computer with
// so many CPUs. That is the number of its CPUs. With coprocessors it is their speed alone, since
// its CPUs only feed them.
func (u Usage) Speed(cpus int, pools []Pool) float64 {
	if u.Coproc == nil {
		return u.cores(cpus)
	}
	return u.Devices() * Find(pools, u.Coproc.Kind).Factor()
}

// cores returns the number of CPUs that it gets. A task that wants more than there are takes them
// all.
func (u Usage) cores(cpus int) float64 {
	if u.NonCPUIntensive {
		return 0
	}
	n := u.CPUs
	if n <= 0 && u.Coproc == nil {
		n = 1
	}
	return min(max(n, 0), float64(cpus))
}
