// Package prefs has the volunteer's computing preferences: their names, defaults and sources, the
// order of the sources, and the times at which they let the computer compute. It is policy: values
// in, values out.
//
// Names, units and defaults are BOINC's. BOINC's preferences without an effect here (modems, mobile
// phones) are refused in a volunteer's file like any unknown key, rather than accepted and ignored.
package prefs

import (
	"time"

	"github.com/starling-grid/starling/internal/words"
)

// Prefs are computing preferences, all of them with a value. Keys has the meaning of each.
type Prefs struct {
	// When to compute.
	RunOnBatteries         bool    `toml:"run_on_batteries"`
	RunIfUserActive        bool    `toml:"run_if_user_active"`
	RunGPUIfUserActive     bool    `toml:"run_gpu_if_user_active"`
	IdleTimeToRun          float64 `toml:"idle_time_to_run"`
	SuspendIfNoRecentInput float64 `toml:"suspend_if_no_recent_input"`
	SuspendCPUUsage        float64 `toml:"suspend_cpu_usage"`
	NiuSuspendCPUUsage     float64 `toml:"niu_suspend_cpu_usage"`
	StartHour              float64 `toml:"start_hour"`
	EndHour                float64 `toml:"end_hour"`

	// How much.
	MaxNCPUsPct           float64 `toml:"max_ncpus_pct"`
	MaxCPUs               float64 `toml:"max_cpus"`
	CPUUsageLimit         float64 `toml:"cpu_usage_limit"`
	NiuMaxNCPUsPct        float64 `toml:"niu_max_ncpus_pct"`
	NiuCPUUsageLimit      float64 `toml:"niu_cpu_usage_limit"`
	RAMMaxUsedBusyPct     float64 `toml:"ram_max_used_busy_pct"`
	RAMMaxUsedIdlePct     float64 `toml:"ram_max_used_idle_pct"`
	LeaveAppsInMemory     bool    `toml:"leave_apps_in_memory"`
	DiskMaxUsedGB         float64 `toml:"disk_max_used_gb"`
	DiskMaxUsedPct        float64 `toml:"disk_max_used_pct"`
	DiskMinFreeGB         float64 `toml:"disk_min_free_gb"`
	MaxStickyGB           float64 `toml:"max_sticky_gb"`
	TemperatureCeiling    float64 `toml:"max_cpu_temperature"`
	GPUTemperatureCeiling float64 `toml:"max_gpu_temperature"`

	// Work.
	WorkBufMinDays        float64 `toml:"work_buf_min_days"`
	WorkBufAdditionalDays float64 `toml:"work_buf_additional_days"`
	SwitchMinutes         float64 `toml:"cpu_scheduling_period_minutes"`
	DiskInterval          float64 `toml:"disk_interval"`

	// Network.
	NetStartHour        float64 `toml:"net_start_hour"`
	NetEndHour          float64 `toml:"net_end_hour"`
	MaxBytesSecUp       float64 `toml:"max_bytes_sec_up"`
	MaxBytesSecDown     float64 `toml:"max_bytes_sec_down"`
	DailyXferLimitMB    float64 `toml:"daily_xfer_limit_mb"`
	DailyXferPeriodDays float64 `toml:"daily_xfer_period_days"`
	NetworkWifiOnly     bool    `toml:"network_wifi_only"`

	// Days are windows for single weekdays, in place of those above.
	Days Days `toml:"day"`
}

// Days are the windows of the weekdays.
type Days struct {
	Sunday    Day `toml:"sunday"`
	Monday    Day `toml:"monday"`
	Tuesday   Day `toml:"tuesday"`
	Wednesday Day `toml:"wednesday"`
	Thursday  Day `toml:"thursday"`
	Friday    Day `toml:"friday"`
	Saturday  Day `toml:"saturday"`
}

// of returns the windows of a weekday.
func (d *Days) of(w time.Weekday) *Day {
	return [...]*Day{&d.Sunday, &d.Monday, &d.Tuesday, &d.Wednesday, &d.Thursday, &d.Friday, &d.Saturday}[w]
}

// A Day has the windows of one weekday. A window with equal hours is not set, and the general one
// applies.
type Day struct {
	StartHour    float64 `toml:"start_hour" json:"start_hour"`
	EndHour      float64 `toml:"end_hour" json:"end_hour"`
	NetStartHour float64 `toml:"net_start_hour" json:"net_start_hour"`
	NetEndHour   float64 `toml:"net_end_hour" json:"net_end_hour"`
}

// Default returns the preferences without any source.
func Default() Prefs {
	var p Prefs
	for i := range keys {
		keys[i].set(&p, keys[i].Default)
	}
	return p
}

// LowWater is the low-water mark of queued work, for each CPU.
func (p Prefs) LowWater() time.Duration { return days(p.WorkBufMinDays) }

// HighWater is the high-water mark of queued work, for each CPU.
func (p Prefs) HighWater() time.Duration { return days(p.WorkBufMinDays + p.WorkBufAdditionalDays) }

// Slice returns the time for which a task runs before another project's may take its CPU.
func (p Prefs) Slice() time.Duration {
	return time.Duration(p.SwitchMinutes * float64(time.Minute))
}

// CheckpointPeriod is the least time between checkpoints.
func (p Prefs) CheckpointPeriod() time.Duration {
	return time.Duration(p.DiskInterval * float64(time.Second))
}

// CPUs returns the number of CPUs, of n, that may be used, at least one. inUse is set while a
// person uses the computer.
func (p Prefs) CPUs(n int, inUse bool) int {
	pct := p.MaxNCPUsPct
	if !inUse {
		pct = p.NiuMaxNCPUsPct
	}
	m := n
	if pct > 0 {
		m = int(float64(n) * pct / 100)
	}
	if p.MaxCPUs > 0 {
		m = min(m, int(p.MaxCPUs))
	}
	return max(1, min(n, m))
}

// Throttle returns the part of the time that tasks may run, in percent, above 0.
func (p Prefs) Throttle(inUse bool) float64 {
	limit := p.CPUUsageLimit
	if !inUse {
		limit = p.NiuCPUUsageLimit
	}
	if limit <= 0 || limit > 100 {
		return 100
	}
	return limit
}

// A Duty is the part of the time that tasks may run, in percent. The zero value is all of it.
type Duty struct {
	Now  float64 `json:"now"`
	Most float64 `json:"most"` // of that in use and that while idle
	// Text is the present limit, as a part of a sentence with the preference's name. It is empty
	// without one.
	Text words.Text `json:"text"`
	Cure words.Text `json:"cure"`
}

// Duty returns the part of the time that tasks may run.
func (p Prefs) Duty(inUse bool) Duty {
	d := Duty{Now: p.Throttle(inUse), Most: max(p.Throttle(true), p.Throttle(false))}
	if d.Most == 100 && d.Now == 100 {
		return Duty{}
	}
	if d.Now == 100 {
		return d
	}
	key, text := "cpu_usage_limit", "{percent}% of the time while the computer is in use ({key} = {percent})"
	if !inUse {
		key, text = "niu_cpu_usage_limit", "{percent}% of the time while it is idle ({key} = {percent})"
	}
	if p.CPUUsageLimit == p.NiuCPUUsageLimit {
		key, text = "cpu_usage_limit", "{percent}% of the time ({key} = {percent})"
	}
	d.Text, d.Cure = words.T(text, "percent", d.Now, "key", key), words.T("Set {key} higher.", "key", key)
	return d
}

// Memory returns how many of total bytes tasks may use.
func (p Prefs) Memory(total int64, inUse bool) int64 {
	pct := p.RAMMaxUsedIdlePct
	if inUse {
		pct = p.RAMMaxUsedBusyPct
	}
	if pct <= 0 {
		pct = 100
	}
	return int64(float64(total) * pct / 100)
}

func days(d float64) time.Duration { return time.Duration(d * 24 * float64(time.Hour)) }
