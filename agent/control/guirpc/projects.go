package guirpc

import (
	"github.com/starling-grid/starling/agent/view"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/protocol/bxml"
)

func writeProjects(w *bxml.Writer, v view.Tools) {
	w.Open("projects")
	for _, p := range v.Projects {
		writeProject(w, v, p)
	}
	w.Close("projects")
}

// project reasons of <sched_rpc_pending>: 0 none, 1 asked for by the user.
func writeProject(w *bxml.Writer, v view.Tools, p view.ToolsProject) {
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
	w.Float("disk_share", float64(p.DiskShare))
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
	w.Flag("non_cpu_intensive", p.NonCPUIntensive)
	w.Flag("suspended_via_gui", p.Account.Suspended)
	w.Flag("dont_request_more_work", p.Account.NoMoreWork)
	w.Flag("attached_via_acct_mgr", p.Account.Manager != nil)
	w.Flag("anonymous_platform", p.Anonymous)
	w.Flag("detach_when_done", p.Account.DetachWhenDone || p.Account.Manager != nil && p.Account.Manager.DetachWhenDone)
	w.Flag("scheduler_rpc_in_progress", p.Session != "")
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
	if len(p.GUIURLs) > 0 {
		w.Open("gui_urls")
		for _, l := range p.GUIURLs {
			w.Open("gui_url")
			w.Text("name", l.Name)
			w.Text("description", l.Description)
			w.Text("url", l.URL)
			w.Close("gui_url")
		}
		w.Close("gui_urls")
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

func writeUnit(w *bxml.Writer, p view.ToolsProject, u protocol.Workunit) {
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
	w.TextIf("command_line", flat(u.CommandLine))
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

func writeStatistics(w *bxml.Writer, v view.Tools) {
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
