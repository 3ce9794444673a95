package view

import (
	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/state"
)

// energy returns an energy in the form that people see.
func energy(e state.Energy) control.Energy {
	return control.Energy{Wh: e.Joules / state.JoulesPerWh, CO2: e.CO2, CO2Of: e.CO2Of / state.JoulesPerWh}
}

// drawn returns the energy of a task so far.
func (f *Facts) drawn(key string, r state.Result) state.Energy {
	if f.Drawn == nil {
		return r.Energy
	}
	return r.Energy.Plus(f.Drawn(key))
}
