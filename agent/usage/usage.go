// Package usage measures the agent and the computer: how much of the CPUs each project got and is
// owed, the energy of tasks, how much of the time the computer is on and computes, its activities, its
// disk use, and its current conditions.
package usage

import "github.com/starling-grid/starling/agent/core"

// DiskMeasured is an event: the data directory was walked over.
type DiskMeasured struct{ use diskUse }

// Event names it.
func (DiskMeasured) Event() string { return "disk measured" }

// DiskWanted is an event: someone looks at how much disk is used, and that is stale.
type DiskWanted struct{}

// Event names it.
func (DiskWanted) Event() string { return "disk usage wanted" }

// Sensed is an event: the computer's conditions have changed so that other activities may be
// allowed.
type Sensed struct{}

// Event names it.
func (Sensed) Event() string { return "computer sensed" }

var _ = []core.Event{DiskMeasured{}, DiskWanted{}, Sensed{}}
