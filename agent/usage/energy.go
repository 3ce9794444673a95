package usage

import (
	"cmp"
	"maps"
	"time"

	"github.com/starling-grid/starling/agent/core"
	"github.com/starling-grid/starling/internal/boottime"
	"github.com/starling-grid/starling/resource"
	"github.com/starling-grid/starling/state"
)

// An EnergyMeter reads the computer's counters of energy.
type EnergyMeter interface {
	// Read returns the energy that the processors have used, in joules, and the time that all CPUs
	// together have been busy, in seconds, each since some moment. ok is false if they are not known.
	Read() (joules, busy float64, ok bool)
}

// These are the limits on a period whose energy is divided. In a short one, the measurements of
// energy and CPU time do not match. In a long one the computer was asleep, or a counter may have
// started again more than once.
const (
	leastPeriod = time.Second
	period      = 30 * time.Second
	mostPeriod  = 150 * time.Second
)

// Energy attributes energy to tasks. The energy of the processors in a period is divided among all
// programs by their CPU time, so tasks do not pay for others. Without a measurement, CPU time counts
// with the stated power of a CPU. It belongs to the loop.
type Energy struct {
	*core.Core
	Meter  EnergyMeter                                        // nil: nothing is measured
	Gauge  *Gauge                                             // with the power of GPUs
	Carbon func(now time.Time) (gramsPerKWh float64, ok bool) // nil: not known

	drawn   map[string]state.Energy // by result key, since it was taken
	pending map[string]float64      // CPU-seconds in the period
	since   time.Time               // start of the period (zero: none)
	at      boottime.Time           // the same by a clock that runs during sleep
	joules  float64                 // of the meter, at the start of the period
	busy    float64                 // likewise
	// measured is the energy of a CPU-second in the last period, or 0 if it is not known.
	measured float64
}

// rate returns the energy of a CPU-second, as stated or last measured, or 0 if it is not known.
func (e *Energy) rate() float64 { return cmp.Or(e.Settings.WattsPerCPU, e.measured) }

// note adds the use of a process in an interval.
func (e *Energy) note(now time.Time, r Run, ran, used time.Duration) {
	if e.drawn == nil {
		e.drawn, e.pending = make(map[string]state.Energy), make(map[string]float64)
	}
	e.pending[r.Key] += used.Seconds()
	for _, n := range r.On {
		e.draw(now, r.Key, e.watts(r.Kind, n)*min(r.Part, 1)*ran.Seconds())
	}
}

// watts returns the power of a coprocessor, as stated or last measured, or 0 if it is not known.
func (e *Energy) watts(kind resource.Kind, number int) float64 {
	if e.Settings.WattsPerGPU > 0 {
		return e.Settings.WattsPerGPU
	}
	for _, m := range e.Gauge.Measured() {
		if m.Device.Kind == string(kind) && m.Number == number {
			return m.Watts
		}
	}
	return 0
}

// count ends the period if it is due, and starts one if processes run.
func (e *Energy) count(now time.Time, running bool) {
	at, _ := boottime.Now()
	switch {
	case !running && len(e.pending) == 0:
		e.since = time.Time{}
	case e.since.IsZero():
		e.since, e.at = now, at
		e.read()
	case now.Sub(e.since) >= period:
		e.divide(now, at)
	}
}

// read returns the energy and the CPU time of all programs since the last call.
func (e *Energy) read() (joules, busy float64, ok bool) {
	if e.Meter == nil {
		return 0, 0, false
	}
	j, b, ok := e.Meter.Read()
	if !ok {
		e.joules = -1
		return 0, 0, false
	}
	joules, busy, ok = j-e.joules, b-e.busy, e.joules >= 0
	e.joules, e.busy = j, b
	return joules, busy, ok
}

// divide ends the period and divides its energy.
func (e *Energy) divide(now time.Time, at boottime.Time) {
	long := max(now.Sub(e.since), at.Sub(e.at)) > mostPeriod
	joules, busy, ok := e.read()
	tasks := 0.0
	for _, used := range e.pending {
		tasks += used
	}
	e.measured = 0
	if busy = max(busy, tasks); ok && !long && busy > 0 {
		e.measured = joules / busy
	}
	for key, used := range e.pending {
		e.draw(now, key, e.rate()*used)
	}
	clear(e.pending)
	maps.DeleteFunc(e.drawn, func(key string, _ state.Energy) bool {
		_, here := e.DB.Results.Get(key)
		return !here
	})
	e.since, e.at = now, at
}

// draw adds energy to a task's.
func (e *Energy) draw(now time.Time, key string, joules float64) {
	if joules <= 0 {
		return
	}
	more := state.Energy{Joules: joules}
	if e.Carbon != nil {
		if grams, ok := e.Carbon(now); ok {
			more.CO2Of, more.CO2 = joules, joules/3.6e6*grams
		}
	}
	e.drawn[key] = e.drawn[key].Plus(more)
}

// Drawn returns the energy of a task that has not been taken.
func (e *Energy) Drawn(key string) state.Energy { return e.drawn[key] }

// Take returns the energy of a task since the last call. It is to be saved with the task. With ended
// set, nothing of the task's energy is left for later.
func (e *Energy) Take(now time.Time, key string, ended bool) state.Energy {
	if used := e.pending[key]; ended && used > 0 {
		if now.Sub(e.since) >= leastPeriod {
			at, _ := boottime.Now()
			e.divide(now, at)
		} else {
			e.draw(now, key, e.rate()*used)
			delete(e.pending, key)
		}
	}
	taken := e.drawn[key]
	delete(e.drawn, key)
	return taken
}
