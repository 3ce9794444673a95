package protocol

import "github.com/starling-grid/starling/protocol/bxml"

// Encode returns the request's body, in the order of BOINC's client.
func (r *SchedulerRequest) Encode() []byte {
	var w bxml.Writer
	w.Open("scheduler_request")
	w.Text("authenticator", string(r.Authenticator))
	w.Int("hostid", r.HostID)
	w.Int("rpc_seqno", r.RPCSeqno)
	r.Client.Write(&w)
	w.Float("resource_share_fraction", r.ResourceShareFraction)
	w.Float("rrs_fraction", r.RRSFraction)
	w.Float("prrs_fraction", r.PRRSFraction)
	w.Float("duration_correction_factor", r.DurationCorrectionFactor)
	w.Bool("allow_multiple_clients", r.AllowMultipleClients)
	w.Bool("sandbox", r.Sandbox)
	w.Bool("dont_send_work", r.DontSendWork)
	w.Flag("dont_use_docker", r.DontUseDocker)
	w.Float("work_req_seconds", r.CPUReqSeconds)
	w.Float("cpu_req_secs", r.CPUReqSeconds)
	w.Float("cpu_req_instances", r.CPUReqInstances)
	w.Float("estimated_delay", r.EstimatedDelay.Seconds())
	w.Int("client_cap_plan_class", 1)
	w.Text("platform_name", r.Platform)
	writeNames(&w, "alt_platform", r.AltPlatforms)
	if r.CodeSignKey != "" {
		w.Block("code_sign_key", r.CodeSignKey)
	}
	if r.WorkingPrefs != "" {
		w.Open("working_global_preferences")
		w.Block("global_preferences", r.WorkingPrefs)
		w.Close("working_global_preferences")
	}
	if r.GlobalPrefs != "" {
		w.Block("global_preferences", r.GlobalPrefs)
		w.TextIf("global_prefs_source_email_hash", r.PrefsEmailHash)
	}
	w.TextIf("cross_project_id", r.CrossProjectID)
	r.TimeStats.write(&w)
	r.NetStats.write(&w)
	r.Host.write(&w)
	r.Disk.write(&w)
	writeCoprocs(&w, r.Coprocs)
	for i := range r.Results {
		r.Results[i].write(&w)
	}
	for _, t := range r.Trickles {
		t.write(&w, "msg_from_host")
	}
	for _, f := range r.Files {
		w.Open("file_info")
		w.Text("name", f.Name)
		w.Float("nbytes", float64(f.NBytes))
		w.Int("status", int64(f.Status))
		w.Close("file_info")
	}
	r.writeHeld(&w)
	w.Close("scheduler_request")
	return w.Bytes()
}

// writeHeld lists the app versions and results that the host has and does not report.
func (r *SchedulerRequest) writeHeld(w *bxml.Writer) {
	w.Open("app_versions")
	for _, v := range r.AppVersions {
		v.FileRefs = nil
		v.write(w)
	}
	w.Close("app_versions")
	w.Open("other_results")
	for _, o := range r.OtherResults {
		w.Open("other_result")
		w.Text("name", o.Name)
		w.Int("app_version", int64(o.AppVersion))
		w.TextIf("plan_class", o.PlanClass)
		w.Close("other_result")
	}
	w.Close("other_results")
	if len(r.InProgress) == 0 {
		return
	}
	w.Open("in_progress_results")
	for _, p := range r.InProgress {
		w.Open("ip_result")
		w.Text("name", p.Name)
		w.Int("report_deadline", int64(UnixSeconds(p.Deadline)))
		w.Float("time_remaining", p.TimeRemaining.Seconds())
		w.Float("avg_ncpus", p.AvgNCPUs)
		w.Close("ip_result")
	}
	w.Close("in_progress_results")
}

// Write writes the three elements that contain a client's version.
func (v Version) Write(w *bxml.Writer) {
	w.Int("core_client_major_version", int64(v.Major))
	w.Int("core_client_minor_version", int64(v.Minor))
	w.Int("core_client_release", int64(v.Release))
}

func (r *ReportedResult) write(w *bxml.Writer) {
	w.Open("result")
	w.Text("name", r.Name)
	w.Float("final_cpu_time", r.FinalCPUTime.Seconds())
	w.Float("final_elapsed_time", r.FinalElapsedTime.Seconds())
	w.Int("exit_status", int64(r.ExitStatus))
	w.Int("state", int64(r.State))
	w.Text("platform", r.Platform)
	w.Int("version_num", int64(r.VersionNum))
	w.TextIf("plan_class", r.PlanClass)
	for _, m := range []struct {
		name string
		n    int64
	}{
		{"final_peak_working_set_size", r.PeakWorkingSet},
		{"final_peak_swap_size", r.PeakSwap},
		{"final_peak_disk_usage", r.PeakDisk},
	} {
		if m.n > 0 {
			w.Float(m.name, float64(m.n))
		}
	}
	w.Int("app_version_num", int64(r.VersionNum))
	writeStderrOut(w, r.StderrOut)
	for _, f := range r.Files {
		w.Open("file_info")
		w.Text("name", f.Name)
		w.Float("nbytes", float64(f.NBytes))
		w.Float("max_nbytes", float64(f.MaxNBytes))
		w.TextIf("md5_cksum", f.MD5)
		for _, u := range f.UploadURLs {
			w.Text("upload_url", u)
		}
		w.TextIf("error_msg", f.ErrorMsg)
		w.Close("file_info")
	}
	w.Close("result")
}
