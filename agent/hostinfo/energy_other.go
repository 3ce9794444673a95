//go:build !linux

package hostinfo

import "errors"

// An EnergyMeter measures nothing on this system.
type EnergyMeter struct{}

// Read returns nothing.
func (*EnergyMeter) Read() (joules, busy float64, ok bool) { return 0, 0, false }

// EnergySource returns the reason why energy is not measured.
func EnergySource() (string, error) { return "", errors.New("energy is not measured on this system") }
