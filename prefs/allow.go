package prefs

import (
	"fmt"
	"time"

	"github.com/starling-grid/starling/internal/words"
)

// A Permission is given unless Why says why not.
type Permission struct {
	Code  string    `json:"code,omitempty"`  // tells one reason from another
	Why   string    `json:"why,omitempty"`   // one sentence for people, naming the preference
	Until time.Time `json:"until,omitzero"`  // when it changes; zero: not known
	Asked bool      `json:"asked,omitempty"` // a person wants it so, rather than a preference just now
}

// Denied reports whether it is not given.
func (p Permission) Denied() bool { return p.Why != "" }

// The codes of permissions that are not given.
const (
	ByUser        = "user_request"
	TimeOfDay     = "time_of_day"
	OnBattery     = "on_battery"
	UserActive    = "user_active"
	NoRecentInput = "no_recent_input"
	CPUBusy       = "cpu_busy"
	Exclusive     = "exclusive_app"
	ExclusiveGPU  = "exclusive_gpu_app"
	TooHot        = "too_hot"
	GPUTooHot     = "gpu_too_hot"
	XferLimit     = "transfer_limit"
	Metered       = "metered_network"
)

// A Mode is what a person wants for now, whatever the preferences say.
type Mode struct {
	Kind  ModeKind
	Until time.Time // then Auto again; zero: until changed
}

// A ModeKind is one of BOINC's modes.
type ModeKind int

// The modes; the zero value follows the preferences. GUI RPC numbers them 1 to 3
// as always, auto, never.
const (
	Auto ModeKind = iota
	Always
	Never
)

// ModeFor is a mode from now on, for a while or, if d is 0, until changed.
func ModeFor(kind ModeKind, d time.Duration, now time.Time) Mode {
	m := Mode{Kind: kind}
	if d > 0 && kind != Auto {
		m.Until = now.Add(d).Round(0)
	}
	return m
}

// At is the mode as of a time.
func (m Mode) At(now time.Time) ModeKind {
	if !m.Until.IsZero() && !now.Before(m.Until) {
		return Auto
	}
	return m.Kind
}

// A Sense is what a sensor says. Without the sensor it is Unknown, which is not
// the same as No.
type Sense int

// The states of a Sense.
const (
	Unknown Sense = iota
	No
	Yes
)

// Conditions are what the computer is like just now.
type Conditions struct {
	Now       time.Time // in the time zone of the volunteer
	Idle      time.Duration
	IdleKnown bool // Idle is known: time without input
	// Unseen says that there is a desktop that does not tell when it is used: without input that
	// is known of, somebody may still use the computer.
	Unseen  bool
	Battery Sense
	// OtherCPU is how much of the CPUs other programs use, in percent, averaged so
	// that it does not flap; below 0: not known.
	OtherCPU     float64
	Exclusive    string  // a program that runs and wants the computer for itself; "": none
	ExclusiveGPU string  // likewise one that wants the GPUs
	Temperature  float64 // °C of the hottest CPU sensor; 0: not known
	// GPUTemperature is the highest in the last GPUCooling of the GPUs that tasks may use,
	// in °C; 0: not known.
	GPUTemperature float64
	Metered        Sense
	Transferred    float64 // MB in the period of daily_xfer_period_days
}

// GPUCooling is how long a GPU that was too hot has to stay below the limit: tasks on it
// may lose what they did since their last checkpoint, so they should not stop often.
const GPUCooling = 2 * time.Minute

// InUse reports whether a person uses the computer. Where that cannot be known it
// counts as not in use, or nothing would ever be computed there.
func (p Prefs) InUse(c Conditions) bool {
	return c.IdleKnown && c.Idle < time.Duration(p.IdleTimeToRun*float64(time.Minute))
}

// idleAt is when the computer counts as idle, without further input.
func (p Prefs) idleAt(c Conditions) time.Time {
	return c.Now.Add(time.Duration(p.IdleTimeToRun*float64(time.Minute)) - c.Idle)
}

// permits is what a mode says of an activity; it decides unless it leaves that to the
// preferences.
func (m Mode) permits(now time.Time, activity string) (asked Permission, decides bool) {
	switch m.At(now) {
	case Always:
		return Permission{}, true
	case Never:
		return Permission{Code: ByUser, Why: "You suspended " + activity + until(m.Until, now) + ".", Until: m.Until, Asked: true}, true
	case Auto:
	}
	return Permission{}, false
}

// MayCompute tells whether tasks may run.
func (p Prefs) MayCompute(c Conditions, m Mode) Permission {
	if asked, decides := m.permits(c.Now, "computing"); decides {
		return asked
	}
	inUse := p.InUse(c)
	limit := p.SuspendCPUUsage
	if !inUse {
		limit = p.NiuSuspendCPUUsage
	}
	switch open, change := within(c.Now, p.computing); {
	case !open:
		return Permission{Code: TimeOfDay, Until: change, Why: "Computing is not allowed at this time of day" + until(change, c.Now) + " (start_hour, end_hour)."}
	case c.Battery == Yes && !p.RunOnBatteries:
		return Permission{Code: OnBattery, Why: "The computer is running on battery power (run_on_batteries)."}
	case inUse && !p.RunIfUserActive:
		return Permission{
			Code: UserActive, Why: fmt.Sprintf("The computer is in use, or was in the last %s (run_if_user_active, idle_time_to_run).", minutes(p.IdleTimeToRun)),
			Until: p.idleAt(c),
		}
	case p.SuspendIfNoRecentInput > 0 && c.IdleKnown && !c.Unseen && c.Idle > time.Duration(p.SuspendIfNoRecentInput*float64(time.Minute)):
		return Permission{Code: NoRecentInput, Why: fmt.Sprintf("There has been no input for %s (suspend_if_no_recent_input).", minutes(p.SuspendIfNoRecentInput))}
	case c.Exclusive != "":
		return Permission{Code: Exclusive, Why: c.Exclusive + " is running (exclusive_apps in starling.toml)."}
	case limit > 0 && c.OtherCPU > limit:
		return Permission{Code: CPUBusy, Why: fmt.Sprintf("Other programs are using %.0f%% of the CPUs, more than the limit of %v%% (suspend_cpu_usage).", c.OtherCPU, limit)}
	case p.TemperatureCeiling > 0 && c.Temperature > p.TemperatureCeiling:
		return Permission{Code: TooHot, Why: fmt.Sprintf("The CPU is at %.0f °C, above the limit of %v °C (max_cpu_temperature).", c.Temperature, p.TemperatureCeiling)}
	}
	return Permission{}
}

// MayUseGPUs tells whether tasks may run on coprocessors, where they may run at all.
func (p Prefs) MayUseGPUs(c Conditions, m Mode) Permission {
	if asked, decides := m.permits(c.Now, "computing on GPUs"); decides {
		return asked
	}
	if p.InUse(c) && !p.RunGPUIfUserActive {
		return Permission{
			Code: UserActive, Why: fmt.Sprintf("GPUs are not used: the computer is in use, or was in the last %s (run_gpu_if_user_active, idle_time_to_run).", minutes(p.IdleTimeToRun)),
			Until: p.idleAt(c),
		}
	}
	switch {
	case c.ExclusiveGPU != "":
		return Permission{Code: ExclusiveGPU, Why: "GPUs are not used: " + c.ExclusiveGPU + " is running (exclusive_gpu_apps in starling.toml)."}
	case p.GPUTemperatureCeiling > 0 && c.GPUTemperature > p.GPUTemperatureCeiling:
		return Permission{Code: GPUTooHot, Why: fmt.Sprintf("GPUs are not used: one was at %.0f °C in the last %s, above the limit of %v °C (max_gpu_temperature).",
			c.GPUTemperature, minutes(GPUCooling.Minutes()), p.GPUTemperatureCeiling)}
	}
	return Permission{}
}

// MayTransfer tells whether servers may be contacted and files moved.
func (p Prefs) MayTransfer(c Conditions, m Mode) Permission {
	if asked, decides := m.permits(c.Now, "network activity"); decides {
		return asked
	}
	switch open, change := within(c.Now, p.network); {
	case !open:
		return Permission{Code: TimeOfDay, Until: change, Why: "Network activity is not allowed at this time of day" + until(change, c.Now) + " (net_start_hour, net_end_hour)."}
	case c.Metered == Yes && p.NetworkWifiOnly:
		return Permission{Code: Metered, Why: "The network connection is metered (network_wifi_only)."}
	case p.DailyXferLimitMB > 0 && p.DailyXferPeriodDays > 0 && c.Transferred >= p.DailyXferLimitMB:
		return Permission{Code: XferLimit, Why: fmt.Sprintf("The transfer limit is reached: %.0f MB in %v days (daily_xfer_limit_mb, daily_xfer_period_days).", c.Transferred, p.DailyXferPeriodDays)}
	}
	return Permission{}
}

func until(t, now time.Time) string {
	if t.IsZero() {
		return ""
	}
	return " until " + words.Time(t, now)
}

func minutes(n float64) string {
	if n == 1 {
		return "minute"
	}
	return fmt.Sprintf("%v minutes", n)
}
