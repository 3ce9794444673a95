package usage

import (
	"testing"
	"time"

	"github.com/starling-grid/starling/agent/gpus"
	"github.com/starling-grid/starling/prefs"
)

// The computer is sensed as often as what may follow from it is urgent.
func TestHowOftenTheComputerIsSensed(t *testing.T) {
	gpu := gpus.Set{Groups: []gpus.Group{{}}}
	gives := prefs.Effective{Prefs: prefs.Prefs{RunIfUserActive: true, RunGPUIfUserActive: true}}
	gpuGives, cpuGives := gives, gives
	gpuGives.RunGPUIfUserActive, cpuGives.RunIfUserActive = false, false
	for name, c := range map[string]struct {
		computes bool
		by       prefs.Effective
		set      gpus.Set
		want     time.Duration
	}{
		"nothing computes":                  {false, cpuGives, gpu, 10 * time.Second},
		"nothing depends on people":         {true, gives, gpu, 5 * time.Second},
		"CPUs are left to people":           {true, cpuGives, gpus.Set{}, 2 * time.Second},
		"GPUs are left to people":           {true, gpuGives, gpu, 2 * time.Second},
		"GPUs would be, but there are none": {true, gpuGives, gpus.Set{}, 5 * time.Second},
	} {
		var p Presence
		p.by.Store(&c.by)
		p.Gauge.set.Store(&c.set)
		p.Attend(c.computes)
		if got := p.every(); got != c.want {
			t.Errorf("%s: every %v, want %v", name, got, c.want)
		}
		if woken := len(p.started()) == 1; woken != c.computes {
			t.Errorf("%s: a look at once: %v", name, woken)
		}
	}
}
