//go:build !linux

package installer

// What people read of the service.
const (
	title       = "Starling"
	description = "Runs scientific computations while this computer is idle"
)
