package prefs_test

import (
	"testing"
	"time"

	"github.com/starling-grid/starling/prefs"
	"github.com/starling-grid/starling/reason"
)

// What keeps tasks off GPUs leaves the CPUs alone.
func TestMayUseGPUs(t *testing.T) {
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name  string
		prefs func(*prefs.Prefs)
		is    prefs.Conditions
		mode  prefs.ModeKind
		code  reason.Code
		why   string
	}{
		{name: "nothing is in the way"},
		{
			name: "the computer is in use", is: prefs.Conditions{IdleKnown: true}, code: reason.UserActive,
			why: "GPUs are not used: the computer is in use, or was in the last 3 minutes (run_gpu_if_user_active, idle_time_to_run).",
		},
		{
			name: "a program wants the GPUs", is: prefs.Conditions{ExclusiveGPU: "doom"}, code: reason.ExclusiveGPU,
			why: "GPUs are not used: doom is running (exclusive_gpu_apps in starling.toml).",
		},
		{
			name: "one is too hot", is: prefs.Conditions{GPUTemperature: 85}, prefs: func(p *prefs.Prefs) { p.GPUTemperatureCeiling = 80 }, code: reason.GPUTooHot,
			why: "GPUs are not used: one was at 85 °C in the last 2 minutes, above the limit of 80 °C (max_gpu_temperature).",
		},
		{name: "one is as hot as it may be", is: prefs.Conditions{GPUTemperature: 80}, prefs: func(p *prefs.Prefs) { p.GPUTemperatureCeiling = 80 }},
		{name: "there is no limit", is: prefs.Conditions{GPUTemperature: 120}},
		{name: "a person wants them used all the same", is: prefs.Conditions{ExclusiveGPU: "doom"}, mode: prefs.Always},
		{name: "a person wants them not used", mode: prefs.Never, code: reason.ByUser, why: "You suspended computing on GPUs."},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := prefs.Default()
			if c.prefs != nil {
				c.prefs(&p)
			}
			c.is.Now, c.is.OtherCPU = now, -1
			if got := p.MayUseGPUs(c.is, prefs.Mode{Kind: c.mode}); got.Code != c.code || got.Why.String() != c.why {
				t.Errorf("got %+v", got)
			}
			if got := p.MayCompute(c.is, prefs.Mode{}); got.Denied() {
				t.Errorf("the CPUs: %+v", got)
			}
		})
	}
}
