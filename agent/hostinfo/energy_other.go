//go:build !linux

package hostinfo

// An EnergyMeter measures nothing on this system.
type EnergyMeter struct{}

// Read returns nothing.
func (*EnergyMeter) Read() (joules, busy float64, ok bool) { return 0, 0, false }

// EnergyState returns the reason why energy is not measured.
func EnergyState() (text string, ok bool) {
	return "energy is not measured on this system", false
}
