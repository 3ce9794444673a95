// Package usage measures what happens: what each project got of the CPUs and is owed,
// which part of the time the computer is on and computes, when it did what, how much disk is used, and
// what the computer is like just now.
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

// Sensed is an event: what the computer is like has changed so that something else may
// be done.
type Sensed struct{}

// Event names it.
func (Sensed) Event() string { return "computer sensed" }

var _ = []core.Event{DiskMeasured{}, DiskWanted{}, Sensed{}}
