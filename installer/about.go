//go:build !linux

package installer

// The service's name and description for people.
const (
	title       = "Starling"
	description = "Runs scientific computations while this computer is idle"
)
