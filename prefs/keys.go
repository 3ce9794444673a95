package prefs

import "github.com/starling-grid/starling/protocol/globalprefs"

// A Key describes one preference.
type Key struct {
	globalprefs.Key
	About string // one line for people

	number func(*Prefs) *float64
	flag   func(*Prefs) *bool
}

// Get returns the preference's value, 0 or 1 for yes or no.
func (k *Key) Get(p *Prefs) float64 {
	if k.flag == nil {
		return *k.number(p)
	}
	if *k.flag(p) {
		return 1
	}
	return 0
}

func (k *Key) set(p *Prefs, v float64) {
	if k.flag != nil {
		*k.flag(p) = v != 0
	} else {
		*k.number(p) = v
	}
}

// Keys returns all preferences, in the order in which people are shown them.
func Keys() []Key { return keys }

// byName finds a preference.
func byName(name string) *Key {
	for i := range keys {
		if keys[i].Name == name {
			return &keys[i]
		}
	}
	return nil
}

func yesNo(name, about string, f func(*Prefs) *bool) Key {
	return Key{Key: globalprefs.Of(name), About: about, flag: f}
}

func number(name, about string, f func(*Prefs) *float64) Key {
	return Key{Key: globalprefs.Of(name), About: about, number: f}
}

// keys has the meaning of each preference and its field in Prefs. If a preference differs from
// BOINC's, its About has the difference.
var keys = []Key{
	yesNo("run_on_batteries", "compute while the computer is running on battery power",
		func(p *Prefs) *bool { return &p.RunOnBatteries }),
	yesNo("run_if_user_active", "compute while the computer is in use",
		func(p *Prefs) *bool { return &p.RunIfUserActive }),
	yesNo("run_gpu_if_user_active", "compute on GPUs and other coprocessors while the computer is in use",
		func(p *Prefs) *bool { return &p.RunGPUIfUserActive }),
	number("idle_time_to_run", "the computer counts as idle after this long without input",
		func(p *Prefs) *float64 { return &p.IdleTimeToRun }),
	number("suspend_if_no_recent_input", "stop computing after this long without input, so that the computer can sleep; 0: never",
		func(p *Prefs) *float64 { return &p.SuspendIfNoRecentInput }),
	number("suspend_cpu_usage", "suspend computing while other programs use more of the CPUs than this; 0: never",
		func(p *Prefs) *float64 { return &p.SuspendCPUUsage }),
	number("niu_suspend_cpu_usage", "the same while the computer is idle; unset: follows suspend_cpu_usage if that is set",
		func(p *Prefs) *float64 { return &p.NiuSuspendCPUUsage }),
	number("start_hour", "compute from this hour of the day, in local time …",
		func(p *Prefs) *float64 { return &p.StartHour }),
	number("end_hour", "… until this hour, past midnight if it is earlier; equal: at any time",
		func(p *Prefs) *float64 { return &p.EndHour }),
	number("max_cpu_temperature", "suspend computing while the hottest CPU sensor reads more than this; 0: never; not a BOINC preference",
		func(p *Prefs) *float64 { return &p.TemperatureCeiling }),
	number("max_gpu_temperature", "suspend computing on GPUs while one of them reads more than this, and until it has read less for 2 minutes; 0: never; not a BOINC preference",
		func(p *Prefs) *float64 { return &p.GPUTemperatureCeiling }),

	number("max_ncpus_pct", "use at most this percentage of the CPUs; 0: all",
		func(p *Prefs) *float64 { return &p.MaxNCPUsPct }),
	number("niu_max_ncpus_pct", "the same while the computer is idle; unset: follows max_ncpus_pct",
		func(p *Prefs) *float64 { return &p.NiuMaxNCPUsPct }),
	number("max_cpus", "use at most this many CPUs; 0: no limit",
		func(p *Prefs) *float64 { return &p.MaxCPUs }),
	number("cpu_usage_limit", "run tasks for at most this percentage of the time",
		func(p *Prefs) *float64 { return &p.CPUUsageLimit }),
	number("niu_cpu_usage_limit", "the same while the computer is idle; unset: follows cpu_usage_limit",
		func(p *Prefs) *float64 { return &p.NiuCPUUsageLimit }),
	number("ram_max_used_busy_pct", "use at most this percentage of the memory while the computer is in use; 0: all",
		func(p *Prefs) *float64 { return &p.RAMMaxUsedBusyPct }),
	number("ram_max_used_idle_pct", "the same while the computer is idle",
		func(p *Prefs) *float64 { return &p.RAMMaxUsedIdlePct }),
	yesNo("leave_apps_in_memory", "keep suspended tasks in memory instead of stopping them and resuming from their last checkpoint",
		func(p *Prefs) *bool { return &p.LeaveAppsInMemory }),
	number("disk_max_used_gb", "use at most this much disk space; 0: no limit",
		func(p *Prefs) *float64 { return &p.DiskMaxUsedGB }),
	number("disk_max_used_pct", "use at most this percentage of the disk",
		func(p *Prefs) *float64 { return &p.DiskMaxUsedPct }),
	number("disk_min_free_gb", "leave at least this much disk space free",
		func(p *Prefs) *float64 { return &p.DiskMinFreeGB }),
	number("max_sticky_gb", "let the files that projects store between tasks use at most this much disk space; 0: no separate limit; not a BOINC preference",
		func(p *Prefs) *float64 { return &p.MaxStickyGB }),

	number("work_buf_min_days", "fetch more work when less than this much is queued",
		func(p *Prefs) *float64 { return &p.WorkBufMinDays }),
	number("work_buf_additional_days", "then fetch this much more on top",
		func(p *Prefs) *float64 { return &p.WorkBufAdditionalDays }),
	number("cpu_scheduling_period_minutes", "run a task for this long before a task of another project may take its CPU",
		func(p *Prefs) *float64 { return &p.SwitchMinutes }),
	number("disk_interval", "ask applications to write checkpoints at most this often",
		func(p *Prefs) *float64 { return &p.DiskInterval }),

	number("net_start_hour", "use the network from this hour of the day …",
		func(p *Prefs) *float64 { return &p.NetStartHour }),
	number("net_end_hour", "… until this hour; equal: at any time",
		func(p *Prefs) *float64 { return &p.NetEndHour }),
	number("max_bytes_sec_up", "upload no faster than this; 0: no limit",
		func(p *Prefs) *float64 { return &p.MaxBytesSecUp }),
	number("max_bytes_sec_down", "download no faster than this; 0: no limit",
		func(p *Prefs) *float64 { return &p.MaxBytesSecDown }),
	number("daily_xfer_limit_mb", "transfer at most this much …",
		func(p *Prefs) *float64 { return &p.DailyXferLimitMB }),
	number("daily_xfer_period_days", "… in this many days; 0: no limit",
		func(p *Prefs) *float64 { return &p.DailyXferPeriodDays }),
	yesNo("network_wifi_only", "use the network only when the connection is not metered",
		func(p *Prefs) *bool { return &p.NetworkWifiOnly }),
}
