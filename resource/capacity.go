package resource

import (
	"math"
	"slices"
)

// A Bound is what keeps a task from running.
type Bound int

// Resources that can be bounded. None is for a task that can run.
const (
	None    Bound = iota
	CPUs          // too few are free
	Memory        // of the computer
	Limit         // as many run as its limit allows
	Devices       // no device is free that it may use
	Missing       // the computer does not have such a device, or none large enough
)

// A Capacity is the free part of a computer's resources. Tasks take from it one after the other.
// Those on coprocessors are first, because a CPU that feeds a device belongs to it. It is not safe
// for concurrent use.
type Capacity struct {
	cpus    int
	used    float64 // CPUs that tasks on them take
	feeding float64 // CPUs that tasks on coprocessors take
	bounded bool    // memory is
	memory  int64
	left    []int // how many more may run under each limit
	pools   []pool
}

type pool struct {
	kind    Kind
	devices []device
}

type device struct {
	Device
	free   float64
	memory int64 // of it, not promised yet
	kept   int   // tasks that run on it and have not taken their share yet
}

// NewCapacity returns the free resources while nothing runs. memory is in bytes, 0 for no bound.
// limits are the maximum numbers of tasks that may run under each limit.
func NewCapacity(cpus int, memory int64, limits []int, pools []Pool) *Capacity {
	c := &Capacity{cpus: cpus, bounded: memory > 0, memory: memory, left: limits}
	for _, p := range pools {
		q := pool{kind: p.Kind}
		for _, d := range p.Devices {
			q.devices = append(q.devices, device{Device: d, free: 1, memory: d.Memory})
		}
		c.pools = append(c.pools, q)
	}
	return c
}

// FreeCPUs returns the number of CPUs that are free for tasks that compute on them. Parts of CPUs
// that feed coprocessors count once they add up to a whole one. They are idle most of the time, and
// a CPU kept free for them would be idle too.
func (c *Capacity) FreeCPUs() float64 {
	return float64(c.cpus) - math.Floor(c.feeding+1e-9) - c.used
}

// FreeMemory returns the number of bytes that are not assigned, if memory is bounded.
func (c *Capacity) FreeMemory() int64 { return c.memory }

// Lacks returns the resource for lack of which a task cannot run, and the limit if it is a limit.
// under are the limits that apply to the task. A resource that a task lacks now is also lacking
// after others have taken more.
func (c *Capacity) Lacks(u Usage, under []int) (b Bound, limit int) {
	free := c.FreeCPUs()
	if u.Coproc == nil && !u.NonCPUIntensive && free <= 0 && len(under) == 0 {
		return CPUs, 0
	}
	for _, l := range under {
		if c.left[l] <= 0 {
			return Limit, l
		}
	}
	if u.Coproc != nil {
		if b := c.lacksDevice(u); b != None {
			return b, 0
		}
	}
	cores := u.cores(c.cpus)
	switch {
	case u.Coproc == nil && cores > 0 && free < cores,
		u.Coproc != nil && float64(c.cpus)-c.used-c.feeding < cores:
		return CPUs, 0
	case c.bounded && c.memory < u.Memory:
		return Memory, 0
	}
	return None, 0
}

// Keep reserves devices for a task that will run on them, so that other tasks prefer different
// devices. Take ends the reservation.
func (c *Capacity) Keep(u Usage) { c.mark(u, 1) }

func (c *Capacity) mark(u Usage, by int) {
	for _, n := range u.Coproc.On {
		if d := c.device(u.Coproc.Kind, n); d != nil {
			d.kept += by
		}
	}
}

// Take assigns resources to a task that lacks nothing, and returns the numbers of its devices. They
// are the devices that it is already on, as far as these are free, since a task can only change
// devices by starting again from its last checkpoint.
func (c *Capacity) Take(u Usage, under []int) (numbers []int) {
	cores := u.cores(c.cpus)
	c.memory -= u.Memory
	for _, l := range under {
		c.left[l]--
	}
	if u.Coproc == nil {
		c.used += cores
		return nil
	}
	c.feeding += cores
	c.mark(u, -1)
	part := min(u.Devices(), 1)
	for range c.count(u) {
		d := c.pick(u)
		d.free -= part
		d.memory -= u.Coproc.Memory
		numbers = append(numbers, d.Number)
	}
	return numbers
}

// count returns the number of devices that a task is on.
func (c *Capacity) count(u Usage) int { return int(math.Ceil(u.Devices())) }

func (c *Capacity) device(k Kind, number int) *device {
	for _, p := range c.pools {
		for i := range p.devices {
			if p.kind == k && p.devices[i].Number == number {
				return &p.devices[i]
			}
		}
	}
	return nil
}

// lacksDevice returns Missing, Devices or None, depending on whether there are devices for a task.
func (c *Capacity) lacksDevice(u Usage) Bound {
	could, free := 0, 0
	c.each(u, func(d *device) {
		if could++; c.open(d, u) {
			free++
		}
	})
	switch n := c.count(u); {
	case could < n:
		return Missing
	case free < n:
		return Devices
	}
	return None
}

// each calls f for the devices that a task could use if nothing else ran.
func (c *Capacity) each(u Usage, f func(d *device)) {
	for _, p := range c.pools {
		if p.kind != u.Coproc.Kind {
			continue
		}
		for i := range p.devices {
			d := &p.devices[i]
			if !slices.Contains(u.Coproc.Except, d.Number) && (d.Memory == 0 || d.Memory >= u.Coproc.Memory) {
				f(d)
			}
		}
	}
}

// open reports whether a device has room for a task, or for one of its parts.
func (c *Capacity) open(d *device, u Usage) bool {
	return d.free >= min(u.Devices(), 1)-1e-9 && (d.Memory == 0 || d.memory >= u.Coproc.Memory)
}

// pick chooses a device: one that the task is on, else one that no other keeps, and of
// these the fullest, so that whole ones stay free for tasks that need them.
func (c *Capacity) pick(u Usage) *device {
	var best *device
	rank := func(d *device) (int, float64) {
		switch {
		case slices.Contains(u.Coproc.On, d.Number):
			return 0, d.free
		case d.kept == 0:
			return 1, d.free
		}
		return 2, d.free
	}
	c.each(u, func(d *device) {
		if !c.open(d, u) {
			return
		}
		if best == nil {
			best = d
			return
		}
		r, f := rank(d)
		if s, g := rank(best); r < s || r == s && f < g {
			best = d
		}
	})
	return best
}
