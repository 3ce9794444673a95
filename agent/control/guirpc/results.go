package guirpc

import (
	"github.com/starling-grid/starling/agent/view"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/protocol/bxml"
)

func writeResults(w *bxml.Writer, v view.Tools, active bool) {
	w.Open("results")
	writeThose(w, v, func(r view.ToolsResult) bool { return !active || r.Active })
	w.Close("results")
}

// writeThose writes the results for which wanted returns true.
func writeThose(w *bxml.Writer, v view.Tools, wanted func(view.ToolsResult) bool) {
	for _, p := range v.Projects {
		for _, r := range p.Results {
			if wanted(r) {
				writeResult(w, p, r)
			}
		}
	}
}

// Numbers of tasks' states, as tools expect them.
const (
	taskUninitialized = 0
	taskExecuting     = 1
	taskSuspended     = 9
	preempted         = 1
	scheduled         = 2
)

func writeResult(w *bxml.Writer, p view.ToolsProject, r view.ToolsResult) {
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
	w.TextIf("resources", r.Resources)
	w.Flag("edf_scheduled", r.Urgent)
	if r.Waiting && !r.Scheduled && r.Computing() && !r.Suspended {
		w.Flag("scheduler_wait", true)
		w.Text("scheduler_wait_reason", flat(r.Why))
	}
	if r.Active {
		writeTask(w, r)
	}
	w.Close("result")
}

func writeTask(w *bxml.Writer, r view.ToolsResult) {
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

func writeSimple(w *bxml.Writer, v view.Tools) {
	w.Open("simple_gui_info")
	for _, p := range v.Projects {
		writeProject(w, v, p)
	}
	writeThose(w, v, func(r view.ToolsResult) bool { return r.Active })
	w.Close("simple_gui_info")
}

func writeScreensaver(w *bxml.Writer, v view.Tools) {
	w.Open("handle_get_screensaver_tasks")
	w.Int("suspend_reason", int64(suspendReason(v.Compute)))
	writeThose(w, v, func(r view.ToolsResult) bool { return r.Scheduled })
	w.Close("handle_get_screensaver_tasks")
}

func writeOld(w *bxml.Writer, v view.Tools) {
	w.Open("old_results")
	for _, o := range v.RecentlyReported {
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
