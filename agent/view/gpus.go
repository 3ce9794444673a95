package view

import "github.com/starling-grid/starling/agent/control"

// gpus returns the coprocessors that tasks may use whose sensors can be read.
func (f *Facts) gpus() (all []control.GPU) {
	for _, m := range f.Measured {
		g := control.GPU{Type: m.Device.Kind, Number: m.Number, Name: m.Name, Celsius: m.Celsius, MemoryUsed: m.MemoryUsed, Memory: m.Reading.Memory}
		if m.Busy >= 0 {
			g.Busy = &m.Busy
		}
		all = append(all, g)
	}
	return all
}
