package guirpc

import (
	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/agent/view"
	"github.com/starling-grid/starling/prefs"
	"github.com/starling-grid/starling/protocol/bxml"
	"github.com/starling-grid/starling/reason"
)

// suspendReason returns BOINC's number for the reason of a suspension.
func suspendReason(p prefs.Permission) int {
	switch p.Code {
	case "":
		return 0
	case reason.OnBattery:
		return 1
	case reason.UserActive:
		return 2
	case reason.ByUser:
		return 4
	case reason.TimeOfDay:
		return 8
	case reason.NoRecentInput:
		return 128
	case reason.Exclusive, reason.ExclusiveGPU:
		return 512
	case reason.CPUBusy:
		return 1024
	case reason.XferLimit:
		return 2048
	case reason.Metered:
		return 4097
	case reason.TooHot, reason.GPUTooHot:
		return 4099
	}
	return 4096
}

// modeNumber returns BOINC's number for a mode.
func modeNumber(k prefs.ModeKind) int64 {
	switch k {
	case prefs.Always:
		return 1
	case prefs.Never:
		return 3
	case prefs.Auto:
	}
	return 2
}

// gpus returns whether GPUs may compute.
func gpus(v view.Tools) prefs.Permission {
	if !v.Compute.Denied() {
		return v.GPUs
	}
	return v.Compute
}

func writeStatus(w *bxml.Writer, v view.Tools) {
	w.Open("cc_status")
	online := int64(2) // nothing to do there
	for _, p := range v.Projects {
		if p.Session != "" {
			online = 0
		}
	}
	for _, t := range v.Transfers {
		if t.Active {
			online = 0
		}
	}
	w.Int("network_status", online)
	w.Bool("ams_password_error", v.Manager.Why.Code == reason.ManagerPassword)
	m := func(prefix string, p prefs.Permission, mode prefs.Mode) {
		now := mode.At(v.Now)
		left, perm := 0.0, now
		if now != prefs.Auto && !mode.Until.IsZero() {
			left, perm = mode.Until.Sub(v.Now).Seconds(), prefs.Auto
		}
		w.Int(prefix+"_suspend_reason", int64(suspendReason(p)))
		w.Int(prefix+"_mode", modeNumber(now))
		w.Int(prefix+"_mode_perm", modeNumber(perm))
		w.Float(prefix+"_mode_delay", left)
	}
	m("task", v.Compute, v.RunMode)
	m("gpu", gpus(v), v.GPUMode)
	m("network", v.Network, v.NetMode)
	w.Int("disallow_attach", 0)
	w.Int("simple_gui_only", 0)
	w.Int("max_event_log_lines", control.MaxMessages)
	w.Close("cc_status")
}
