package load

import (
	"os"

	"github.com/shirou/gopsutil/v3/cpu"
	"github.com/shirou/gopsutil/v3/process"
)

// CPU is the processor time that the measurement took on this computer, in seconds.
type CPU struct {
	Generator float64         `json:"generator"`
	Processes map[int]float64 `json:"processes,omitempty"` // requested processes, with their children, by ID
	Busy      float64         `json:"machine_busy"`        // fraction of all processors' time, 0 to 1, that all programs used
}

// usage is the processor time used so far.
type usage struct {
	self      float64
	processes map[int]float64
	busy, all float64
}

// sample reads the processor time of this process, of other processes with their children, and of
// the whole computer. Values that cannot be read are 0.
func sample(pids []int) usage {
	u := usage{processes: make(map[int]float64)}
	all, _ := process.Processes()
	children := make(map[int32][]*process.Process)
	for _, p := range all {
		if parent, err := p.Ppid(); err == nil {
			children[parent] = append(children[parent], p)
		}
	}
	if p, err := process.NewProcess(int32(os.Getpid())); err == nil { //nolint:gosec // fits
		u.self = seconds(p)
	}
	var tree func(p *process.Process) float64
	tree = func(p *process.Process) float64 {
		s := seconds(p)
		for _, child := range children[p.Pid] {
			s += tree(child)
		}
		return s
	}
	for _, pid := range pids {
		if p, err := process.NewProcess(int32(pid)); err == nil { //nolint:gosec // a number that does not fit is none
			u.processes[pid] = tree(p)
		}
	}
	if t, err := cpu.Times(false); err == nil && len(t) > 0 {
		idle := t[0].Idle + t[0].Iowait
		u.busy = t[0].User + t[0].System + t[0].Nice + t[0].Irq + t[0].Softirq + t[0].Steal
		u.all = u.busy + idle
	}
	return u
}

func seconds(p *process.Process) float64 {
	t, err := p.Times()
	if err != nil {
		return 0
	}
	return t.User + t.System
}

// until returns the processor time used between two samples.
func (u usage) until(later usage) CPU {
	c := CPU{Generator: later.self - u.self, Processes: make(map[int]float64)}
	for pid, s := range later.processes {
		c.Processes[pid] = max(0, s-u.processes[pid])
	}
	if all := later.all - u.all; all > 0 {
		c.Busy = (later.busy - u.busy) / all
	}
	return c
}
