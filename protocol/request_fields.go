package protocol

import (
	"fmt"
	"strings"

	"github.com/starling-grid/starling/protocol/bxml"
)

// ParseSchedulerRequest reads a client's request. Unknown elements are skipped, but a truncated
// request is an error.
func ParseSchedulerRequest(b []byte) (*SchedulerRequest, error) {
	s := bxml.NewScanner(b)
	if err := s.Find("scheduler_request"); err != nil {
		return nil, fmt.Errorf("scheduler request: %w", err)
	}
	r := &SchedulerRequest{
		ResourceShareFraction: 1, RRSFraction: 1, PRRSFraction: 1, DurationCorrectionFactor: 1,
	}
	files := fileBudget(maxFiles)
	for name := range s.Children() {
		switch name {
		case "result":
			if len(r.Results) < maxReports {
				r.Results = append(r.Results, ReportedResult{})
				r.Results[len(r.Results)-1].scan(s, &files)
			}
		case "msg_from_host":
			r.Trickles = appendTo(r.Trickles, parseTrickle(s.RawHead(maxBlob+2*maxText)))
		case "file_info":
			r.Files = files.add(r.Files, s)
		default:
			r.fields(s.Child())
		}
	}
	if err := s.Err(); err != nil {
		return nil, fmt.Errorf("scheduler request: %w", err)
	}
	return r, nil
}

// Encode returns the request's body, in the order of BOINC's client.
func (r *SchedulerRequest) Encode() []byte {
	var w bxml.Writer
	w.Grow(usualMessage)
	w.Open("scheduler_request")
	w.Fields(r.fields)
	w.Close("scheduler_request")
	return w.Bytes()
}

func (r *SchedulerRequest) fields(x bxml.Codec) {
	opt := x.Optional()
	r.key(x)
	x.Int("hostid", &r.HostID)
	x.Int("rpc_seqno", &r.RPCSeqno)
	r.Client.fields(x)
	x.Float("resource_share_fraction", &r.ResourceShareFraction)
	x.Float("rrs_fraction", &r.RRSFraction)
	x.Float("prrs_fraction", &r.PRRSFraction)
	x.Float("duration_correction_factor", &r.DurationCorrectionFactor)
	x.Bool("allow_multiple_clients", &r.AllowMultipleClients)
	x.Bool("sandbox", &r.Sandbox)
	x.Bool("dont_send_work", &r.DontSendWork)
	x.Flag("dont_use_docker", &r.DontUseDocker)
	if x.Writing() != nil || r.CPUReqSeconds == 0 {
		x.Float("work_req_seconds", &r.CPUReqSeconds) // very old clients send only this
	}
	x.Float("cpu_req_secs", &r.CPUReqSeconds)
	x.Float("cpu_req_instances", &r.CPUReqInstances)
	span(x, "estimated_delay", &r.EstimatedDelay)
	x.WriteInt("client_cap_plan_class", 1)
	x.Line("platform_name", &r.Platform, maxText)
	eachName(x, "alt_platform", &r.AltPlatforms, maxPlatforms, scanLineName)
	if s := x.Reading("code_sign_key"); s != nil {
		r.CodeSignKey = strings.TrimSpace(s.RawHead(maxKey))
	}
	if w := x.Writing(); w != nil && r.CodeSignKey != "" {
		w.Block("code_sign_key", r.CodeSignKey)
	}
	x.WriteIf(r.WorkingPrefs != "").Element("working_global_preferences", func(x bxml.Codec) {
		x.Block("global_preferences", &r.WorkingPrefs, maxBlob)
	})
	opt.Block("global_preferences", &r.GlobalPrefs, maxBlob)
	opt.WriteIf(r.GlobalPrefs != "").Line("global_prefs_source_email_hash", &r.PrefsEmailHash, maxText)
	opt.Line("cross_project_id", &r.CrossProjectID, maxText)
	part(x, "time_stats", &r.TimeStats)
	part(x, "net_stats", &r.NetStats)
	part(x, "host_info", &r.Host)
	part(x, "disk_usage", &r.Disk)
	if s := x.Reading("coprocs"); s != nil {
		r.Coprocs = scanCoprocs(s)
	}
	if w := x.Writing(); w != nil {
		writeCoprocs(w, r.Coprocs)
		r.writeReports(w)
	}
	r.held(x)
}

func (r *SchedulerRequest) key(x bxml.Codec) {
	if s := x.Reading("authenticator"); s != nil {
		// Upstream cuts the key at the first quote character.
		key, _, _ := strings.Cut(s.Line(maxText), "'")
		r.Authenticator = Authenticator(key)
	}
	if w := x.Writing(); w != nil {
		w.Text("authenticator", string(r.Authenticator))
	}
}

func (r *SchedulerRequest) writeReports(w *bxml.Writer) {
	for i := range r.Results {
		r.Results[i].write(w)
	}
	for _, t := range r.Trickles {
		t.write(w, "msg_from_host")
	}
	for _, f := range r.Files {
		w.Open("file_info")
		w.Text("name", f.Name)
		w.Float("nbytes", float64(f.NBytes))
		w.Int("status", int64(f.Status))
		w.Close("file_info")
	}
}

// held reads or writes the app versions and results that the host has and does not report.
func (r *SchedulerRequest) held(x bxml.Codec) {
	x.Element("app_versions", func(x bxml.Codec) {
		eachFrom(x.WriteIf(false), "app_version", &r.AppVersions, maxAppVersions, AppVersion{})
		if w := x.Writing(); w != nil {
			for _, v := range r.AppVersions {
				v.FileRefs = nil
				w.Element("app_version", v.fields)
			}
		}
	})
	x.Element("other_results", func(x bxml.Codec) {
		eachFrom(x, "other_result", &r.OtherResults, maxList, OtherResult{AppVersion: -1})
	})
}

// Write writes the three elements that contain a client's version.
func (v Version) Write(w *bxml.Writer) { w.Fields(v.fields) }

func (v *Version) fields(x bxml.Codec) {
	integer(x, "core_client_major_version", &v.Major)
	integer(x, "core_client_minor_version", &v.Minor)
	integer(x, "core_client_release", &v.Release)
}

func (r *ReportedResult) scan(s *bxml.Scanner, files *fileBudget) {
	for name := range s.Children() {
		switch name {
		case "file_info", "file":
			r.Files = files.add(r.Files, s)
		default:
			r.fields(s.Child())
		}
	}
}

func (r *ReportedResult) write(w *bxml.Writer) {
	w.Open("result")
	w.Fields(r.fields)
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

func (r *ReportedResult) fields(x bxml.Codec) {
	opt := x.Optional()
	x.Line("name", &r.Name, maxLong)
	span(x, "final_cpu_time", &r.FinalCPUTime)
	span(x, "final_elapsed_time", &r.FinalElapsedTime)
	integer(x, "exit_status", &r.ExitStatus)
	r.State.field(x)
	x.Line("platform", &r.Platform, maxText)
	integer(x, "version_num", &r.VersionNum)
	opt.Line("plan_class", &r.PlanClass, maxText)
	floatSize(opt, "final_peak_working_set_size", &r.PeakWorkingSet)
	floatSize(opt, "final_peak_swap_size", &r.PeakSwap)
	floatSize(opt, "final_peak_disk_usage", &r.PeakDisk)
	opt.Float("starling_energy_wh", &r.EnergyWh)
	integer(x, "app_version_num", &r.VersionNum)
	if s := x.Reading("stderr_out"); s != nil {
		r.StderrOut = scanStderrOut(s)
	}
	if w := x.Writing(); w != nil {
		writeStderrOut(w, r.StderrOut)
	}
}

func (c *ClientState) field(x bxml.Codec) {
	if s := x.Reading("state"); s != nil {
		n := 0
		scanInt(s, &n)
		*c = ClientState(n)
	}
	x.WriteInt("state", int64(*c))
}

func (o *OtherResult) fields(x bxml.Codec) {
	x.Line("name", &o.Name, maxLong)
	integer(x, "app_version", &o.AppVersion)
	x.Optional().Line("plan_class", &o.PlanClass, maxText)
}

// A fileBudget is the number of files of a request that are still accepted. Each takes many times
// more memory than the shortest element that describes one.
type fileBudget int

func (b *fileBudget) add(list []FileInfo, s *bxml.Scanner) []FileInfo {
	if *b == 0 {
		return list // the element is skipped
	}
	*b--
	list = append(list, FileInfo{})
	s.Fields(list[len(list)-1].fields)
	return list
}
