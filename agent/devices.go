package agent

import (
	"context"
	"time"

	"github.com/starling-grid/starling/agent/gpus"
	"github.com/starling-grid/starling/agent/settings"
)

// detect asks the drivers. It returns an empty report if it cannot ask them, or if their answer
// would not count.
func (a *Agent) detect(ctx context.Context, s settings.Settings) gpus.Report {
	if a.cfg.Detect == nil || !gpus.Wanted(s) {
		return gpus.Report{}
	}
	return a.cfg.Detect(ctx)
}

// knowDevices looks for the computer's coprocessors at the start.
func (a *Agent) knowDevices(ctx context.Context) {
	a.found = a.detect(ctx, a.core.Settings)
	a.core.Coprocs = gpus.Join(a.core.Settings, a.found)
	a.core.Host.OpenCLCPUs = a.found.OpenCLCPUs()
	a.tellDevices()
}

// tellDevices logs the devices that tasks may use and those that they may not.
func (a *Agent) tellDevices() {
	for _, g := range a.core.Coprocs.Groups {
		numbers := make([]int, len(g.Devices))
		for i, d := range g.Devices {
			numbers[i] = d.Number
		}
		a.core.Log.Info("coprocessors in use", "kind", string(g.Kind), "what", g.String(), "device_nums", numbers, "declared", g.Declared, "gflops_each", g.PeakFlops/1e9)
	}
	for _, d := range a.core.Coprocs.Unused {
		a.core.Log.Info("a coprocessor is not used", "kind", d.Kind, "device_num", d.Number, "name", d.Name, "why", d.Why)
	}
	for _, failed := range []gpus.Answer{a.found.OpenCL, a.found.NVIDIA} {
		if failed.Failure != "" {
			a.core.Log.Warn("a driver could not be asked for its coprocessors", "err", failed.Failure)
		}
	}
}

// FindDevices looks for the computer's coprocessors again and lets tasks use those that are there
// now. It returns the report. The previous devices of a driver still count if it does not answer
// this time. It may be called while Run runs.
func (a *Agent) FindDevices(ctx context.Context) gpus.Report {
	var s settings.Settings
	_ = a.core.See(ctx, func() { s = a.core.Settings })
	r := a.detect(ctx, s)
	_ = a.core.Do(ctx, func() error { // an agent that ends needs no devices
		before := a.core.Coprocs
		if gpus.Wanted(a.core.Settings) { // otherwise no driver was asked
			a.found = r.After(a.found)
		}
		a.core.Coprocs = gpus.Join(a.core.Settings, a.found).After(before, time.Now())
		a.core.Host.OpenCLCPUs = a.found.OpenCLCPUs()
		if !before.Equal(a.core.Coprocs) {
			a.tellDevices()
		}
		return nil
	})
	return r
}
