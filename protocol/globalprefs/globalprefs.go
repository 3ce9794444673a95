// Package globalprefs lists a volunteer's preferences about computing, which agents and servers
// exchange as global_preferences, with their names, units, defaults and ranges. The agent gives
// them their meaning for a computer, and the server chooses the ones that a web page shows.
package globalprefs

import "slices"

// A Key is one preference.
type Key struct {
	Name        string
	Unit        string  // "" for yes or no
	Default     float64 // 0 and 1 for yes or no
	Least, Most float64
}

// Bool reports whether the preference is yes or no rather than a number.
func (k Key) Bool() bool { return k.Unit == "" }

// All returns all preferences.
func All() []Key { return slices.Clone(all) }

// Of returns the preference of that name. It panics if there is none.
func Of(name string) Key {
	for _, k := range all {
		if k.Name == name {
			return k
		}
	}
	panic("no preference is called " + name)
}

func yesNo(name string, def float64) Key { return Key{Name: name, Default: def, Most: 1} }

// all follow BOINC's lib/prefs.cpp in names, units and defaults, except max_cpu_temperature,
// max_gpu_temperature and max_sticky_gb, which BOINC lacks. BOINC documents the defaults of
// run_on_batteries (off) and run_if_user_active (on).
var all = []Key{
	yesNo("run_on_batteries", 0),
	yesNo("run_if_user_active", 1),
	yesNo("run_gpu_if_user_active", 0),
	{"idle_time_to_run", "minutes", 3, 0, 9999},
	{"suspend_if_no_recent_input", "minutes", 0, 0, 1e6},
	{"suspend_cpu_usage", "percent", 25, 0, 100},
	{"niu_suspend_cpu_usage", "percent", 50, 0, 100},
	{"start_hour", "hours", 0, 0, 24},
	{"end_hour", "hours", 0, 0, 24},
	{"max_cpu_temperature", "°C", 0, 0, 150},
	{"max_gpu_temperature", "°C", 0, 0, 150},
	{"max_ncpus_pct", "percent", 100, 0, 100},
	{"niu_max_ncpus_pct", "percent", 100, 0, 100},
	{"max_cpus", "CPUs", 0, 0, 1e5},
	{"cpu_usage_limit", "percent", 100, 0, 100},
	{"niu_cpu_usage_limit", "percent", 100, 0, 100},
	{"ram_max_used_busy_pct", "percent", 50, 0, 100},
	{"ram_max_used_idle_pct", "percent", 90, 0, 100},
	yesNo("leave_apps_in_memory", 0),
	{"disk_max_used_gb", "GB", 0, 0, 1e6},
	{"disk_max_used_pct", "percent", 90, 0, 100},
	{"disk_min_free_gb", "GB", 0.1, 0, 1e6},
	{"max_sticky_gb", "GB", 0, 0, 1e6},
	{"work_buf_min_days", "days", 0.1, 0, 10},
	{"work_buf_additional_days", "days", 0.5, 0, 10},
	{"cpu_scheduling_period_minutes", "minutes", 60, 1, 1440},
	{"disk_interval", "seconds", 60, 0, 86400},
	{"net_start_hour", "hours", 0, 0, 24},
	{"net_end_hour", "hours", 0, 0, 24},
	{"max_bytes_sec_up", "bytes per second", 0, 0, 1e12},
	{"max_bytes_sec_down", "bytes per second", 0, 0, 1e12},
	{"daily_xfer_limit_mb", "MB", 0, 0, 1e9},
	{"daily_xfer_period_days", "days", 0, 0, 1000},
	yesNo("network_wifi_only", 0),
}
