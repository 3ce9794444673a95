package resource

import (
	"math"
	"time"
)

// A project can claim that its tasks need little CPU time, and they then run in addition to those
// that fill the CPUs. Their average use must stay below much, a quarter of a CPU. Applications with
// a true claim, which read a sensor or wait for the network, use some hundredths. One that starts
// up or works for a minute is not a cheat. If they have used more, their claim is accepted again
// once they are below little.
//
// Source: BOINC sched/plan_class.cpp gives such a task 0.01 CPUs. Its client believes the word.
const (
	lightHalfLife = 10 * time.Minute // of their CPU use, in time in which they ran
	much          = 0.25
	little        = 0.1
)

// A Light is the measured CPU use of a project's tasks that claim to need little CPU time. All of
// them count together: a new task or another application is not a fresh start. The zero value is
// for a project that has had no such task.
type Light struct {
	CPUs     float64 `json:"cpus,omitempty"`   // that they used on average of the last minutes in which they ran
	Overused bool    `json:"belied,omitempty"` // it is much, or was and is not little yet
}

// Ran adds that one of the tasks ran for so long and used so much CPU time. An interval counts the
// same whether it is added as one or in several parts, except for their order.
func (l Light) Ran(ran, used time.Duration) Light {
	ran, used = max(ran, 0), max(used, 0)
	keep := math.Exp2(-ran.Seconds() / lightHalfLife.Seconds())
	weight := math.Ln2 / lightHalfLife.Seconds() // of a second of CPU time, if it was used in no time
	if ran > 0 {
		weight = (1 - keep) / ran.Seconds()
	}
	l.CPUs = l.CPUs*keep + used.Seconds()*weight
	switch {
	case l.CPUs > much:
		l.Overused = true
	case l.CPUs < little:
		l.Overused = false
	}
	return l
}
