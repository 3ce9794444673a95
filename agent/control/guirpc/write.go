package guirpc

import (
	"errors"
	"strings"
	"time"

	"github.com/starling-grid/starling/prefs"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/protocol/bxml"
)

// errorNum is BOINC's number for what went wrong with a project's server.
func errorNum(err error) int {
	if a, ok := errors.AsType[*protocol.AccountError](err); ok {
		return a.Num
	}
	return protocol.ErrNumPermanentHTTP
}

func seconds(d time.Duration) float64 { return d.Seconds() }

func writeState(w *bxml.Writer, v View) {
	w.Open("client_state")
	writeHost(w, v)
	writeNetStats(w)
	writeTimes(w, v.Times)
	for _, p := range v.Projects {
		writeProject(w, v, p)
		for _, a := range p.Apps {
			w.Open("app")
			w.Text("name", a.Name)
			w.Text("user_friendly_name", a.UserFriendlyName)
			w.Bool("non_cpu_intensive", a.NonCPUIntensive)
			w.Close("app")
		}
		for _, a := range p.Versions {
			writeVersion(w, a)
		}
		for _, u := range p.Units {
			writeUnit(w, p, u)
		}
		for _, r := range p.Results {
			writeResult(w, v, p, r)
		}
	}
	c := protocol.CompatVersion
	w.Text("platform_name", v.Platforms[0])
	w.Int("core_client_major_version", int64(c.Major))
	w.Int("core_client_minor_version", int64(c.Minor))
	w.Int("core_client_release", int64(c.Release))
	w.Bool("executing_as_daemon", true)
	for _, name := range v.Platforms {
		w.Text("platform", name)
	}
	writePrefsWorking(w, v)
	w.Close("client_state")
}

func writeNetStats(w *bxml.Writer) {
	w.Open("net_stats")
	for _, name := range []string{"bwup", "avg_up", "avg_time_up", "bwdown", "avg_down", "avg_time_down"} {
		w.Float(name, 0)
	}
	w.Close("net_stats")
}

func writeTimes(w *bxml.Writer, t protocol.TimeStats) {
	w.Open("time_stats")
	w.Float("on_frac", t.OnFrac)
	w.Float("connected_frac", t.ConnectedFrac)
	w.Float("cpu_and_network_available_frac", t.CPUAndNetworkAvailableFrac)
	w.Float("active_frac", t.ActiveFrac)
	w.Float("gpu_active_frac", t.ActiveFrac)
	w.Float("client_start_time", protocol.UnixSeconds(t.ClientStart))
	w.Float("total_start_time", protocol.UnixSeconds(t.TotalStart))
	w.Float("total_duration", seconds(t.TotalDuration))
	w.Float("total_active_duration", seconds(t.TotalActiveDuration))
	w.Float("total_gpu_active_duration", 0)
	w.Float("now", protocol.UnixSeconds(t.Now))
	w.Float("previous_uptime", seconds(t.PreviousUptime))
	w.Float("session_active_duration", seconds(t.SessionActiveDuration))
	w.Float("session_gpu_active_duration", 0)
	w.Close("time_stats")
}

func writeHost(w *bxml.Writer, v View) {
	w.Open("host_info")
	w.Raw(v.Host.InnerXML())
	w.Close("host_info")
}

func writeProjects(w *bxml.Writer, v View) {
	w.Open("projects")
	for _, p := range v.Projects {
		writeProject(w, v, p)
	}
	w.Close("projects")
}

// project reasons of <sched_rpc_pending>: 0 none, 1 asked for by the user.
func writeProject(w *bxml.Writer, v View, p Project) {
	w.Open("project")
	w.Text("master_url", p.MasterURL)
	w.Text("project_name", p.Name)
	w.Text("symstore", "")
	w.Text("user_name", p.UserName)
	w.Text("team_name", p.TeamName)
	w.Text("host_venue", p.Venue)
	w.Text("email_hash", p.EmailHash)
	w.Text("cross_project_id", "")
	w.Text("external_cpid", "")
	w.Float("cpid_time", 0)
	w.Float("user_total_credit", p.UserTotalCredit)
	w.Float("user_expavg_credit", p.UserExpavgCredit)
	w.Float("user_create_time", 0)
	w.Int("rpc_seqno", p.RPCSeqno)
	w.Int("userid", p.UserID)
	w.Int("teamid", 0)
	w.Int("hostid", p.HostID)
	w.Float("host_total_credit", p.HostTotalCredit)
	w.Float("host_expavg_credit", p.HostExpavgCredit)
	w.Float("host_create_time", 0)
	w.Int("nrpc_failures", int64(p.Contact.NRPCFailures))
	w.Int("master_fetch_failures", int64(p.Contact.MasterFailures))
	w.Float("min_rpc_time", protocol.UnixSeconds(p.Contact.MinRPCTime))
	w.Float("next_rpc_time", protocol.UnixSeconds(p.Contact.NextRPCTime))
	w.Float("rec", 0)
	w.Float("rec_time", 0)
	w.Float("resource_share", p.Account.ResourceShare)
	w.Float("disk_usage", float64(p.DiskUsed))
	w.Float("disk_share", 0)
	w.Float("desired_disk_usage", 0)
	w.Float("duration_correction_factor", max(p.Estimates.Ratio, 1e-9))
	w.Int("sched_rpc_pending", 0)
	w.Int("send_time_stats_log", 0)
	w.Int("send_job_log", 0)
	w.Int("njobs_success", int64(p.Estimates.Results))
	w.Int("njobs_error", int64(p.Fetch.Errors))
	w.Float("elapsed_time", 0)
	w.Float("last_rpc_time", protocol.UnixSeconds(p.Contact.LastRPC))
	w.Flag("master_url_fetch_pending", p.Contact.FetchMaster || len(p.SchedulerURLs) == 0)
	w.Flag("suspended_via_gui", p.Account.Suspended)
	w.Flag("dont_request_more_work", p.Account.NoMoreWork)
	w.Flag("attached_via_acct_mgr", p.Account.Manager != nil)
	w.Flag("detach_when_done", p.Account.Manager != nil && p.Account.Manager.DetachWhenDone)
	w.Flag("ended", p.Leaving)
	w.Flag("scheduler_rpc_in_progress", p.Talking != "")
	w.Open("rsc_backoff_time")
	w.Text("name", "CPU")
	w.Float("value", max(0, p.Fetch.NextTry.Sub(v.Now).Seconds()))
	w.Close("rsc_backoff_time")
	w.Open("rsc_backoff_interval")
	w.Text("name", "CPU")
	w.Float("value", 0)
	w.Close("rsc_backoff_interval")
	for _, name := range p.NoRscApps {
		w.Text("no_rsc_apps", name)
	}
	w.Float("sched_priority", p.Debt)
	w.Float("project_files_downloaded_time", 0)
	w.Text("venue", p.Venue)
	w.Text("project_dir", p.Dir)
	w.Close("project")
}

func writeVersion(w *bxml.Writer, a protocol.AppVersion) {
	w.Open("app_version")
	w.Text("app_name", a.AppName)
	w.Int("version_num", int64(a.VersionNum))
	w.Text("platform", a.Platform)
	w.Text("plan_class", a.PlanClass)
	w.Float("avg_ncpus", a.AvgNCPUs)
	w.Float("flops", a.Flops)
	w.Text("api_version", a.APIVersion)
	w.TextIf("cmdline", a.Cmdline)
	w.Flag("is_wrapper", a.IsWrapper)
	for _, f := range a.FileRefs {
		writeFileRef(w, f)
	}
	w.Close("app_version")
}

func writeUnit(w *bxml.Writer, p Project, u protocol.Workunit) {
	version := 0
	for _, r := range p.Results {
		if r.WorkunitName == u.Name {
			version = r.VersionNum
		}
	}
	w.Open("workunit")
	w.Text("name", u.Name)
	w.Text("app_name", u.AppName)
	w.Int("version_num", int64(version))
	w.Float("rsc_fpops_est", u.RscFpopsEst)
	w.Float("rsc_fpops_bound", u.RscFpopsBound)
	w.Float("rsc_memory_bound", u.RscMemoryBound)
	w.Float("rsc_disk_bound", u.RscDiskBound)
	w.TextIf("command_line", flat("%s", u.CommandLine))
	for _, f := range u.FileRefs {
		writeFileRef(w, f)
	}
	w.Close("workunit")
}

func writeFileRef(w *bxml.Writer, f protocol.FileRef) {
	w.Open("file_ref")
	w.Text("file_name", f.FileName)
	w.TextIf("open_name", f.OpenName)
	w.Flag("main_program", f.MainProgram)
	w.Flag("copy_file", f.CopyFile)
	w.Close("file_ref")
}

func writeResults(w *bxml.Writer, v View, active bool) {
	w.Open("results")
	for _, p := range v.Projects {
		for _, r := range p.Results {
			if !active || r.Active {
				writeResult(w, v, p, r)
			}
		}
	}
	w.Close("results")
}

// Numbers of tasks' states, as tools know them.
const (
	taskUninitialized = 0
	taskExecuting     = 1
	taskSuspended     = 9
	preempted         = 1
	scheduled         = 2
)

func writeResult(w *bxml.Writer, v View, p Project, r Result) {
	w.Open("result")
	w.Text("name", r.Name)
	w.Text("wu_name", r.WorkunitName)
	w.Text("platform", r.Platform)
	w.Int("version_num", int64(r.VersionNum))
	w.Text("plan_class", r.PlanClass)
	w.Text("project_url", p.MasterURL)
	w.Float("final_cpu_time", seconds(r.CPUTime))
	w.Float("final_elapsed_time", seconds(r.Elapsed))
	w.Int("exit_status", int64(r.ExitStatus))
	w.Int("state", int64(r.State))
	w.Float("report_deadline", protocol.UnixSeconds(r.ReportDeadline))
	w.Float("received_time", protocol.UnixSeconds(r.Received))
	w.Float("estimated_cpu_time_remaining", seconds(r.Remaining))
	w.Flag("ready_to_report", r.ReadyToReport)
	if r.ReadyToReport {
		w.Float("completed_time", protocol.UnixSeconds(r.Completed))
	}
	w.Flag("suspended_via_gui", r.Suspended)
	w.Flag("project_suspended_via_gui", p.Account.Suspended)
	w.Flag("report_immediately", r.ReportImmediately)
	w.Flag("edf_scheduled", r.Urgent)
	if r.Waiting && !r.Scheduled && r.Computing() && !r.Suspended {
		w.Flag("scheduler_wait", true)
		w.Text("scheduler_wait_reason", flat("%s", r.Why))
	}
	if r.Active {
		writeTask(w, r)
	}
	w.Close("result")
}

func writeTask(w *bxml.Writer, r Result) {
	taskState, schedState := taskUninitialized, preempted
	switch {
	case r.Scheduled:
		taskState, schedState = taskExecuting, scheduled
	case r.Process:
		taskState = taskSuspended
	}
	cpu, elapsed, fraction := max(r.Progress.CPUTime, r.Checkpoint.CPUTime), max(r.Progress.Elapsed, r.Checkpoint.Elapsed), max(r.Progress.Fraction, r.Checkpoint.Fraction)
	w.Open("active_task")
	w.Int("active_task_state", int64(taskState))
	w.Int("app_version_num", int64(r.VersionNum))
	w.Int("slot", int64(r.Slot))
	w.Int("pid", int64(r.Progress.PID))
	w.Int("scheduler_state", int64(schedState))
	w.Float("checkpoint_cpu_time", seconds(max(r.Checkpoint.CPUTime, r.Progress.CheckpointCPUTime)))
	w.Float("fraction_done", fraction)
	w.Float("current_cpu_time", seconds(cpu))
	w.Float("elapsed_time", seconds(elapsed))
	w.Float("swap_size", float64(r.Progress.WorkingSet))
	w.Float("working_set_size", float64(r.Progress.WorkingSet))
	w.Float("working_set_size_smoothed", float64(r.Progress.WorkingSet))
	w.Float("page_fault_rate", 0)
	w.Float("bytes_sent", 0)
	w.Float("bytes_received", 0)
	if s := elapsed.Seconds(); s > 0 {
		w.Float("progress_rate", fraction/s)
	}
	w.Close("active_task")
}

func writeSimple(w *bxml.Writer, v View) {
	w.Open("simple_gui_info")
	for _, p := range v.Projects {
		writeProject(w, v, p)
	}
	for _, p := range v.Projects {
		for _, r := range p.Results {
			if r.Active {
				writeResult(w, v, p, r)
			}
		}
	}
	w.Close("simple_gui_info")
}

func writeScreensaver(w *bxml.Writer, v View) {
	w.Open("handle_get_screensaver_tasks")
	w.Int("suspend_reason", int64(suspendReason(v.Compute)))
	for _, p := range v.Projects {
		for _, r := range p.Results {
			if r.Scheduled {
				writeResult(w, v, p, r)
			}
		}
	}
	w.Close("handle_get_screensaver_tasks")
}

// suspendReason is BOINC's number for why something does not go on.
func suspendReason(p prefs.Permission) int {
	switch p.Code {
	case "":
		return 0
	case prefs.OnBattery:
		return 1
	case prefs.UserActive:
		return 2
	case prefs.ByUser:
		return 4
	case prefs.TimeOfDay:
		return 8
	case prefs.NoRecentInput:
		return 128
	case prefs.Exclusive:
		return 512
	case prefs.CPUBusy:
		return 1024
	case prefs.XferLimit:
		return 2048
	case prefs.Metered:
		return 4097
	case prefs.TooHot:
		return 4099
	}
	return 4096
}

// modeNumber is BOINC's number for a mode.
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

func writeStatus(w *bxml.Writer, v View) {
	w.Open("cc_status")
	online := int64(2) // nothing to do there
	for _, p := range v.Projects {
		if p.Talking != "" {
			online = 0
		}
	}
	for _, t := range v.Transfers {
		if t.Active {
			online = 0
		}
	}
	w.Int("network_status", online)
	w.Bool("ams_password_error", v.Manager.WrongPassword)
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
	m("gpu", v.Compute, v.RunMode)
	m("network", v.Network, v.NetMode)
	w.Int("disallow_attach", 0)
	w.Int("simple_gui_only", 0)
	w.Int("max_event_log_lines", MaxMessages)
	w.Close("cc_status")
}

// MaxMessages is how many messages are kept for tools.
const MaxMessages = 2000

func writeMessages(w *bxml.Writer, all []Message) {
	w.Open("msgs")
	for _, m := range all {
		w.Open("msg")
		w.Text("project", m.Project)
		w.Int("pri", int64(m.Priority))
		w.Int("seqno", int64(m.Seqno))
		w.Raw("<body>\n<![CDATA[\n" + cdata(m.Text) + "\n]]>\n</body>\n")
		w.Int("time", m.Time.Unix())
		w.Close("msg")
	}
	w.Close("msgs")
}

func cdata(s string) string { return strings.ReplaceAll(s, "]]>", "]] >") }

func writeNotices(w *bxml.Writer, v View, after int) {
	w.Open("notices")
	seqno := 0
	for _, p := range v.Projects {
		for _, n := range p.Notices {
			if n.Priority != protocol.PriorityNotice {
				continue
			}
			if seqno++; seqno <= after {
				continue
			}
			w.Open("notice")
			w.Text("title", "Notice from "+p.Name)
			w.Raw("<description><![CDATA[\n" + cdata(n.Text) + "\n]]></description>\n")
			w.Float("create_time", protocol.UnixSeconds(n.Time))
			w.Float("arrival_time", protocol.UnixSeconds(n.Time))
			w.Int("is_private", 0)
			w.Text("project_name", p.Name)
			w.Text("category", "scheduler")
			w.Raw("<link><![CDATA[]]></link>\n")
			w.Int("seqno", int64(seqno))
			w.Close("notice")
		}
	}
	w.Close("notices")
}

func writeTransfers(w *bxml.Writer, v View) {
	w.Open("file_transfers")
	for _, t := range v.Transfers {
		w.Open("file_transfer")
		w.Text("project_url", t.Project)
		w.Text("project_name", t.ProjectName)
		w.Text("name", t.Name)
		w.Float("nbytes", float64(t.NBytes))
		w.Float("max_nbytes", float64(t.MaxNBytes))
		w.Int("status", int64(t.Local))
		w.Open("persistent_file_xfer")
		w.Int("num_retries", int64(t.Failures))
		w.Float("first_request_time", protocol.UnixSeconds(t.FirstTry))
		w.Float("next_request_time", protocol.UnixSeconds(t.NextTry))
		w.Float("time_so_far", 0)
		w.Float("last_bytes_xferred", float64(t.Bytes))
		w.Int("is_upload", flag(t.Output))
		w.Close("persistent_file_xfer")
		if t.Active {
			speed := float64(t.Bytes) / max(v.Now.Sub(t.Since).Seconds(), 0.1)
			w.Open("file_xfer")
			w.Float("bytes_xferred", float64(t.Bytes))
			w.Float("file_offset", 0)
			w.Float("xfer_speed", speed)
			url := ""
			if urls := append(append([]string(nil), t.UploadURLs...), t.DownloadURLs...); len(urls) > 0 {
				url = urls[0]
			}
			w.Text("url", url)
			w.Close("file_xfer")
		}
		w.Float("project_backoff", 0)
		w.Close("file_transfer")
	}
	w.Close("file_transfers")
}

func flag(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func writeDisk(w *bxml.Writer, v View) {
	w.Open("disk_usage_summary")
	for _, p := range v.Projects {
		w.Open("project")
		w.Text("master_url", p.MasterURL)
		w.Float("disk_usage", float64(p.DiskUsed))
		w.Close("project")
	}
	w.Float("d_total", v.Host.DiskTotal)
	w.Float("d_free", v.Host.DiskFree)
	w.Float("d_boinc", float64(v.DiskUsed))
	w.Float("d_allowed", float64(v.DiskMay))
	w.Close("disk_usage_summary")
}

func writeStatistics(w *bxml.Writer, v View) {
	w.Open("statistics")
	for _, p := range v.Projects {
		w.Open("project_statistics")
		w.Text("master_url", p.MasterURL)
		for _, d := range p.Statistics {
			w.Open("daily_statistics")
			w.Float("day", protocol.UnixSeconds(d.Day))
			w.Float("user_total_credit", d.UserTotal)
			w.Float("user_expavg_credit", d.UserExpavg)
			w.Float("host_total_credit", d.HostTotal)
			w.Float("host_expavg_credit", d.HostExpavg)
			w.Close("daily_statistics")
		}
		w.Close("project_statistics")
	}
	w.Close("statistics")
}

func writeTraffic(w *bxml.Writer, v View) {
	w.Open("daily_xfers")
	for _, t := range v.Traffic {
		w.Open("dx")
		w.Int("when", int64(t.Day))
		w.Float("up", t.Up)
		w.Float("down", t.Down)
		w.Close("dx")
	}
	w.Close("daily_xfers")
}

func writeOld(w *bxml.Writer, v View) {
	w.Open("old_results")
	for _, o := range v.Old {
		w.Open("old_result")
		w.Text("project_url", o.Project)
		w.Text("result_name", o.Name)
		w.Text("app_name", o.App)
		w.Int("exit_status", int64(o.ExitStatus))
		w.Float("elapsed_time", seconds(o.Elapsed))
		w.Float("cpu_time", seconds(o.CPUTime))
		w.Float("completed_time", protocol.UnixSeconds(o.Completed))
		w.Float("create_time", protocol.UnixSeconds(o.Created))
		w.Close("old_result")
	}
	w.Close("old_results")
}

func writePrefsFile(w *bxml.Writer, v View) {
	if v.Web == "" {
		w.Int("error", -108)
		return
	}
	w.Open("global_preferences")
	w.Raw(v.Web + "\n")
	w.Close("global_preferences")
}

func writePrefsWorking(w *bxml.Writer, v View) {
	w.Open("global_preferences")
	w.Raw(v.Prefs.XML())
	w.Close("global_preferences")
}

func writePrefsOverride(w *bxml.Writer, v View) {
	if len(v.Override.Values) == 0 && len(v.Override.Days) == 0 {
		w.Text("error", "no prefs override file")
		return
	}
	w.Open("global_preferences")
	w.Raw(v.Override.XML())
	w.Close("global_preferences")
}

func writeAppConfig(w *bxml.Writer, p Project) {
	if p.Account.MaxConcurrent == 0 && len(p.Account.Apps) == 0 {
		w.Text("error", "app_config.xml not found")
		return
	}
	w.Open("app_config")
	for _, a := range p.Account.Apps {
		w.Open("app")
		w.Text("name", a.Name)
		w.Int("max_concurrent", int64(a.MaxConcurrent))
		w.Flag("report_results_immediately", a.ReportImmediately)
		w.Close("app")
		if a.AvgNCPUs > 0 || a.Cmdline != "" {
			w.Open("app_version")
			w.Text("app_name", a.Name)
			w.Float("avg_ncpus", a.AvgNCPUs)
			w.TextIf("cmdline", a.Cmdline)
			w.Close("app_version")
		}
	}
	if p.Account.MaxConcurrent > 0 {
		w.Int("project_max_concurrent", int64(p.Account.MaxConcurrent))
	}
	w.Close("app_config")
}
