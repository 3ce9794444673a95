package load

import (
	"fmt"
	"strings"
)

// preferences are the preferences in effect as BOINC's clients send them, with their names and
// usual values, some two kilobytes.
var preferences = preferencesText()

func preferencesText() string {
	var b strings.Builder
	line := func(name, value string) { fmt.Fprintf(&b, "   <%s>%s</%s>\n", name, value, name) }
	line("source_project", "")
	for _, p := range []struct {
		name  string
		value float64
	}{
		{"mod_time", 0},
		{"battery_charge_min_pct", 90},
		{"battery_max_temperature", 40},
	} {
		line(p.name, fmt.Sprintf("%f", p.value))
	}
	for _, p := range []struct {
		name string
		on   int
	}{
		{"run_on_batteries", 0},
		{"run_if_user_active", 1},
		{"run_gpu_if_user_active", 0},
		{"leave_apps_in_memory", 0},
		{"confirm_before_connecting", 1},
		{"hangup_if_dialed", 0},
		{"dont_verify_images", 0},
		{"network_wifi_only", 0},
		{"daily_xfer_period_days", 0},
		{"override_file_present", 0},
	} {
		line(p.name, fmt.Sprint(p.on))
	}
	for _, p := range []struct {
		name  string
		value float64
	}{
		{"suspend_if_no_recent_input", 0},
		{"suspend_cpu_usage", 25},
		{"start_hour", 0},
		{"end_hour", 0},
		{"net_start_hour", 0},
		{"net_end_hour", 0},
		{"work_buf_min_days", 0.1},
		{"work_buf_additional_days", 0.5},
		{"max_ncpus_pct", 100},
		{"niu_max_ncpus_pct", 100},
		{"niu_cpu_usage_limit", 100},
		{"niu_suspend_cpu_usage", 50},
		{"cpu_scheduling_period_minutes", 60},
		{"disk_interval", 60},
		{"disk_max_used_gb", 0},
		{"disk_max_used_pct", 90},
		{"disk_min_free_gb", 0.1},
		{"vm_max_used_pct", 75},
		{"ram_max_used_busy_pct", 50},
		{"ram_max_used_idle_pct", 90},
		{"idle_time_to_run", 3},
		{"max_bytes_sec_up", 0},
		{"max_bytes_sec_down", 0},
		{"cpu_usage_limit", 100},
		{"daily_xfer_limit_mb", 0},
	} {
		line(p.name, fmt.Sprintf("%f", p.value))
	}
	return strings.TrimRight(b.String(), "\n")
}
