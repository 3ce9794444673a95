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
	yesNo("run_on_batteries", 0, "compute while the computer runs on its battery",
		func(p *Prefs) *bool { return &p.RunOnBatteries }),
	yesNo("run_if_user_active", 1, "compute while somebody uses the computer",
		func(p *Prefs) *bool { return &p.RunIfUserActive }),
	number("idle_time_to_run", "minutes", 3, 0, 9999, "without input for so long, the computer counts as not in use",
		func(p *Prefs) *float64 { return &p.IdleTimeToRun }),
	number("suspend_if_no_recent_input", "minutes", 0, 0, 1e6, "stop computing when there was no input for so long, so that the computer can sleep; 0: never",
		func(p *Prefs) *float64 { return &p.SuspendIfNoRecentInput }),
	number("suspend_cpu_usage", "percent", 25, 0, 100, "stop while other programs use more of the CPUs than this; 0: never",
		func(p *Prefs) *float64 { return &p.SuspendCPUUsage }),
	number("niu_suspend_cpu_usage", "percent", 50, 0, 100, "the same while the computer is not in use; unset: as suspend_cpu_usage where that is set",
		func(p *Prefs) *float64 { return &p.NiuSuspendCPUUsage }),
	number("start_hour", "hours", 0, 0, 24, "compute from this hour of the day, local time …",
		func(p *Prefs) *float64 { return &p.StartHour }),
	number("end_hour", "hours", 0, 0, 24, "… to this one, over midnight if it is earlier; equal: at any time",
		func(p *Prefs) *float64 { return &p.EndHour }),
	number("max_cpu_temperature", "°C", 0, 0, 150, "stop while the hottest CPU sensor shows more; 0: never; not one of BOINC's",
		func(p *Prefs) *float64 { return &p.TemperatureCeiling }),

	number("max_ncpus_pct", "percent", 100, 0, 100, "use at most this part of the CPUs; 0: all",
		func(p *Prefs) *float64 { return &p.MaxNCPUsPct }),
	number("niu_max_ncpus_pct", "percent", 100, 0, 100, "the same while the computer is not in use; unset: as max_ncpus_pct",
		func(p *Prefs) *float64 { return &p.NiuMaxNCPUsPct }),
	number("max_cpus", "CPUs", 0, 0, 1e5, "use at most so many CPUs; 0: no limit",
		func(p *Prefs) *float64 { return &p.MaxCPUs }),
	number("cpu_usage_limit", "percent", 100, 0, 100, "let tasks run for this part of the time",
		func(p *Prefs) *float64 { return &p.CPUUsageLimit }),
	number("niu_cpu_usage_limit", "percent", 100, 0, 100, "the same while the computer is not in use; unset: as cpu_usage_limit",
		func(p *Prefs) *float64 { return &p.NiuCPUUsageLimit }),
	number("ram_max_used_busy_pct", "percent", 50, 0, 100, "use at most this part of the memory while somebody uses the computer; 0: all",
		func(p *Prefs) *float64 { return &p.RAMMaxUsedBusyPct }),
	number("ram_max_used_idle_pct", "percent", 90, 0, 100, "the same while nobody does",
		func(p *Prefs) *float64 { return &p.RAMMaxUsedIdlePct }),
	yesNo("leave_apps_in_memory", 0, "suspended tasks stay in memory, rather than end and go on from their last checkpoint",
		func(p *Prefs) *bool { return &p.LeaveAppsInMemory }),
	number("disk_max_used_gb", "GB", 0, 0, 1e6, "take at most so much of the disk; 0: no limit",
		func(p *Prefs) *float64 { return &p.DiskMaxUsedGB }),
	number("disk_max_used_pct", "percent", 90, 0, 100, "take at most this part of the disk",
		func(p *Prefs) *float64 { return &p.DiskMaxUsedPct }),
	number("disk_min_free_gb", "GB", 0.1, 0, 1e6, "leave so much of the disk free",
		func(p *Prefs) *float64 { return &p.DiskMinFreeGB }),

	number("work_buf_min_days", "days", 0.1, 0, 10, "fetch more work when less than this is queued",
		func(p *Prefs) *float64 { return &p.WorkBufMinDays }),
	number("work_buf_additional_days", "days", 0.5, 0, 10, "then fetch for so much longer than that",
		func(p *Prefs) *float64 { return &p.WorkBufAdditionalDays }),
	number("cpu_scheduling_period_minutes", "minutes", 60, 1, 1440, "a task runs for so long before another project's may take its CPU",
		func(p *Prefs) *float64 { return &p.SwitchMinutes }),
	number("disk_interval", "seconds", 60, 0, 86400, "ask applications to write a checkpoint no more often than this",
		func(p *Prefs) *float64 { return &p.DiskInterval }),

	number("net_start_hour", "hours", 0, 0, 24, "use the network from this hour of the day …",
		func(p *Prefs) *float64 { return &p.NetStartHour }),
	number("net_end_hour", "hours", 0, 0, 24, "… to this one; equal: at any time",
		func(p *Prefs) *float64 { return &p.NetEndHour }),
	number("max_bytes_sec_up", "bytes a second", 0, 0, 1e12, "upload no faster than this; 0: no limit",
		func(p *Prefs) *float64 { return &p.MaxBytesSecUp }),
	number("max_bytes_sec_down", "bytes a second", 0, 0, 1e12, "download no faster than this; 0: no limit",
		func(p *Prefs) *float64 { return &p.MaxBytesSecDown }),
	number("daily_xfer_limit_mb", "MB", 0, 0, 1e9, "transfer at most so much …",
		func(p *Prefs) *float64 { return &p.DailyXferLimitMB }),
	number("daily_xfer_period_days", "days", 0, 0, 1000, "… in so many days; 0: no limit",
		func(p *Prefs) *float64 { return &p.DailyXferPeriodDays }),
	yesNo("network_wifi_only", 0, "use the network only where it is not metered",
		func(p *Prefs) *bool { return &p.NetworkWifiOnly }),
}
