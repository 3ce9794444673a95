package boincconfig

import "strconv"

// unused are BOINC's options without an equivalent here, and their defaults.
//
// Source: BOINC lib/cc_config.cpp, CC_CONFIG::defaults.
var unused = map[string]string{
	"abort_jobs_on_exit": "0", "allow_gui_rpc_get": "0", "allow_remote_gui_rpc": "0", "alt_platform": "",
	"disallow_attach": "0", "disallowed_wsl": "", "dont_check_file_sizes": "0", "dont_contact_ref_site": "0",
	"dont_suspend_nci": "0", "dont_use_docker": "0", "dont_use_vbox": "0", "dont_use_wsl": "0",
	"exit_after_finish": "0", "exit_before_start": "0", "exit_when_idle": "0", "fetch_minimal_work": "0", "fetch_on_update": "0",
	"force_auth": "default", "http_1_0": "0", "http_transfer_timeout": "300", "http_transfer_timeout_bps": "10",
	"ignore_tty": "", "lower_client_priority": "0", "max_event_log_lines": "2000", "max_overdue_days": "-1",
	"max_stderr_file_size": "0", "max_stdout_file_size": "0", "max_tasks_reported": "0", "no_alt_platform": "0",
	"no_disk_usage": "0", "no_info_fetch": "0", "no_opencl": "0", "no_rdp_check": "0", "os_random_only": "0", "prioritize_gpu": "0",
	"process_priority": "-1", "process_priority_special": "-1", "rec_half_life_days": "10", "run_apps_manually": "0",
	"save_stats_days": "30", "simple_gui_only": "0", "skip_cpu_benchmarks": "0", "start_delay": "0", "stderr_head": "0",
	"suppress_net_info": "0", "unsigned_apps_ok": "0", "use_certs": "0", "use_certs_only": "0", "vbox_window": "0",
}

// moved are options of old clients, which BOINC itself passes over.
var moved = map[string]bool{
	"client_download_url": true, "client_new_version_text": true, "client_version_check_url": true, "network_test_url": true,
}

// usual reports whether an option without a like is as if it were not there. One that is
// not known never is.
func usual(name, text string) bool {
	unless, known := unused[name]
	if moved[name] || known && text == unless {
		return true
	}
	a, errA := strconv.ParseFloat(text, 64)
	b, errB := strconv.ParseFloat(unless, 64)
	return errA == nil && errB == nil && a == b
}
