package resource

import (
	"math"
	"time"
)

// A project says of tasks that they need little CPU time, and so gets them run beside those
// that fill the CPUs. What these use on average must stay below much, a quarter of a CPU:
// applications that the word is true of, which read a sensor or wait for the network, use some
// hundredths, and one that starts up or works for a minute is no cheat. Once they have used
// more, they are as good as their word again below little.
//
// Source: BOINC sched/plan_class.cpp gives such a task 0.01 CPUs. Its client believes the word.
const (
	lightHalfLife = 10 * time.Minute // of what they used, in time in which they ran
	much          = 0.25
	little        = 0.1
)

// A Light is what was measured of a project's tasks that are said to need little CPU time.
// All of them count together: a new task, or another application, is no fresh start. The zero
// value is of a project that has had none.
type Light struct {
	CPUs   float64 `json:"cpus,omitempty"`   // that they used on average of the last minutes in which they ran
	Belied bool    `json:"belied,omitempty"` // it is much, or was and is not little yet
}

// Ran takes in that one of them ran for so long and used so much CPU time. Intervals that have
// been seen as one or as several make no difference but for their order.
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
		l.Belied = true
	case l.CPUs < little:
		l.Belied = false
	}
	return l
}
