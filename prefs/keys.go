package prefs

// A Key describes one preference.
type Key struct {
	Name        string
	About       string  // one line for people
	Unit        string  // "" for yes or no
	Default     float64 // 0 and 1 for yes or no
	Least, Most float64

	number func(*Prefs) *float64
	flag   func(*Prefs) *bool
}

// Bool reports whether the preference is yes or no rather than a number.
func (k *Key) Bool() bool { return k.flag != nil }

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

func yesNo(name string, def float64, about string, f func(*Prefs) *bool) Key {
	return Key{Name: name, About: about, Default: def, Most: 1, flag: f}
}

func number(name, unit string, def, least, most float64, about string, f func(*Prefs) *float64) Key {
	return Key{Name: name, About: about, Unit: unit, Default: def, Least: least, Most: most, number: f}
}

// keys follow BOINC's lib/prefs.cpp in names, units and defaults; where they
// differ, About says so. That run_on_batteries and run_if_user_active are off and
// on respectively is what BOINC documents.
var keys = []Key{
	yesNo("run_on_batteries", 0, "compute while the computer is running on battery power",
		func(p *Prefs) *bool { return &p.RunOnBatteries }),
	yesNo("run_if_user_active", 1, "compute while the computer is in use",
		func(p *Prefs) *bool { return &p.RunIfUserActive }),
	number("idle_time_to_run", "minutes", 3, 0, 9999, "the computer counts as idle after this long without input",
		func(p *Prefs) *float64 { return &p.IdleTimeToRun }),
	number("suspend_if_no_recent_input", "minutes", 0, 0, 1e6, "stop computing after this long without input, so that the computer can sleep; 0: never",
		func(p *Prefs) *float64 { return &p.SuspendIfNoRecentInput }),
	number("suspend_cpu_usage", "percent", 25, 0, 100, "suspend computing while other programs use more of the CPUs than this; 0: never",
		func(p *Prefs) *float64 { return &p.SuspendCPUUsage }),
	number("niu_suspend_cpu_usage", "percent", 50, 0, 100, "the same while the computer is idle; unset: follows suspend_cpu_usage if that is set",
		func(p *Prefs) *float64 { return &p.NiuSuspendCPUUsage }),
	number("start_hour", "hours", 0, 0, 24, "compute from this hour of the day, in local time …",
		func(p *Prefs) *float64 { return &p.StartHour }),
	number("end_hour", "hours", 0, 0, 24, "… until this hour, past midnight if it is earlier; equal: at any time",
		func(p *Prefs) *float64 { return &p.EndHour }),
	number("max_cpu_temperature", "°C", 0, 0, 150, "suspend computing while the hottest CPU sensor reads more than this; 0: never; not a BOINC preference",
		func(p *Prefs) *float64 { return &p.TemperatureCeiling }),

	number("max_ncpus_pct", "percent", 100, 0, 100, "use at most this percentage of the CPUs; 0: all",
		func(p *Prefs) *float64 { return &p.MaxNCPUsPct }),
	number("niu_max_ncpus_pct", "percent", 100, 0, 100, "the same while the computer is idle; unset: follows max_ncpus_pct",
		func(p *Prefs) *float64 { return &p.NiuMaxNCPUsPct }),
	number("max_cpus", "CPUs", 0, 0, 1e5, "use at most this many CPUs; 0: no limit",
		func(p *Prefs) *float64 { return &p.MaxCPUs }),
	number("cpu_usage_limit", "percent", 100, 0, 100, "run tasks for at most this percentage of the time",
		func(p *Prefs) *float64 { return &p.CPUUsageLimit }),
	number("niu_cpu_usage_limit", "percent", 100, 0, 100, "the same while the computer is idle; unset: follows cpu_usage_limit",
		func(p *Prefs) *float64 { return &p.NiuCPUUsageLimit }),
	number("ram_max_used_busy_pct", "percent", 50, 0, 100, "use at most this percentage of the memory while the computer is in use; 0: all",
		func(p *Prefs) *float64 { return &p.RAMMaxUsedBusyPct }),
	number("ram_max_used_idle_pct", "percent", 90, 0, 100, "the same while the computer is idle",
		func(p *Prefs) *float64 { return &p.RAMMaxUsedIdlePct }),
	yesNo("leave_apps_in_memory", 0, "keep suspended tasks in memory instead of stopping them and resuming from their last checkpoint",
		func(p *Prefs) *bool { return &p.LeaveAppsInMemory }),
	number("disk_max_used_gb", "GB", 0, 0, 1e6, "use at most this much disk space; 0: no limit",
		func(p *Prefs) *float64 { return &p.DiskMaxUsedGB }),
	number("disk_max_used_pct", "percent", 90, 0, 100, "use at most this percentage of the disk",
		func(p *Prefs) *float64 { return &p.DiskMaxUsedPct }),
	number("disk_min_free_gb", "GB", 0.1, 0, 1e6, "leave at least this much disk space free",
		func(p *Prefs) *float64 { return &p.DiskMinFreeGB }),

	number("work_buf_min_days", "days", 0.1, 0, 10, "fetch more work when less than this much is queued",
		func(p *Prefs) *float64 { return &p.WorkBufMinDays }),
	number("work_buf_additional_days", "days", 0.5, 0, 10, "then fetch this much more on top",
		func(p *Prefs) *float64 { return &p.WorkBufAdditionalDays }),
	number("cpu_scheduling_period_minutes", "minutes", 60, 1, 1440, "run a task for this long before a task of another project may take its CPU",
		func(p *Prefs) *float64 { return &p.SwitchMinutes }),
	number("disk_interval", "seconds", 60, 0, 86400, "ask applications to write checkpoints at most this often",
		func(p *Prefs) *float64 { return &p.DiskInterval }),

	number("net_start_hour", "hours", 0, 0, 24, "use the network from this hour of the day …",
		func(p *Prefs) *float64 { return &p.NetStartHour }),
	number("net_end_hour", "hours", 0, 0, 24, "… until this hour; equal: at any time",
		func(p *Prefs) *float64 { return &p.NetEndHour }),
	number("max_bytes_sec_up", "bytes per second", 0, 0, 1e12, "upload no faster than this; 0: no limit",
		func(p *Prefs) *float64 { return &p.MaxBytesSecUp }),
	number("max_bytes_sec_down", "bytes per second", 0, 0, 1e12, "download no faster than this; 0: no limit",
		func(p *Prefs) *float64 { return &p.MaxBytesSecDown }),
	number("daily_xfer_limit_mb", "MB", 0, 0, 1e9, "transfer at most this much …",
		func(p *Prefs) *float64 { return &p.DailyXferLimitMB }),
	number("daily_xfer_period_days", "days", 0, 0, 1000, "… in this many days; 0: no limit",
		func(p *Prefs) *float64 { return &p.DailyXferPeriodDays }),
	yesNo("network_wifi_only", 0, "use the network only when the connection is not metered",
		func(p *Prefs) *bool { return &p.NetworkWifiOnly }),
}
