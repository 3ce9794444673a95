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
		case "authenticator":
			// Upstream cuts the key at the first quote character.
			key, _, _ := strings.Cut(s.Line(maxText), "'")
			r.Authenticator = Authenticator(key)
		case "hostid":
			s.Int(&r.HostID)
		case "rpc_seqno":
			s.Int(&r.RPCSeqno)
		case "core_client_major_version":
			scanInt(s, &r.Client.Major)
		case "core_client_minor_version":
			scanInt(s, &r.Client.Minor)
		case "core_client_release":
			scanInt(s, &r.Client.Release)
		case "resource_share_fraction":
			s.Float(&r.ResourceShareFraction)
		case "rrs_fraction":
			s.Float(&r.RRSFraction)
		case "prrs_fraction":
			s.Float(&r.PRRSFraction)
		case "duration_correction_factor":
			s.Float(&r.DurationCorrectionFactor)
		case "allow_multiple_clients":
			r.AllowMultipleClients = s.Flag()
		case "sandbox":
			r.Sandbox = s.Flag()
		case "dont_send_work":
			r.DontSendWork = s.Flag()
		case "dont_use_docker":
			r.DontUseDocker = s.Flag()
		case "work_req_seconds":
			if r.CPUReqSeconds == 0 {
				s.Float(&r.CPUReqSeconds) // very old clients send only this
			}
		case "cpu_req_secs":
			s.Float(&r.CPUReqSeconds)
		case "cpu_req_instances":
			s.Float(&r.CPUReqInstances)
		case "estimated_delay":
			scanSpan(s, &r.EstimatedDelay)
		case "platform_name":
			r.Platform = s.Line(maxText)
		case "alt_platform":
			if name := scanLine(s); len(r.AltPlatforms) < maxPlatforms {
				r.AltPlatforms = append(r.AltPlatforms, name)
			}
		case "code_sign_key":
			r.CodeSignKey = strings.TrimSpace(s.RawHead(maxKey))
		case "working_global_preferences":
			for name := range s.Children() {
				if name == "global_preferences" {
					r.WorkingPrefs = s.RawUpTo(maxBlob)
				}
			}
		case "global_preferences":
			r.GlobalPrefs = s.RawUpTo(maxBlob)
		case "global_prefs_source_email_hash":
			r.PrefsEmailHash = s.Line(maxText)
		case "cross_project_id":
			r.CrossProjectID = s.Line(maxText)
		case "time_stats":
			r.TimeStats = scanTimeStats(s)
		case "net_stats":
			r.NetStats = scanNetStats(s)
		case "host_info":
			r.Host = scanHostInfo(s)
		case "disk_usage":
			r.Disk = scanDiskUsage(s)
		case "coprocs":
			r.Coprocs = scanCoprocs(s)
		case "result":
			if len(r.Results) < maxReports {
				r.Results = append(r.Results, scanReported(s, &files))
			}
		case "msg_from_host":
			r.Trickles = appendTo(r.Trickles, parseTrickle(s.RawHead(maxBlob+2*maxText)))
		case "file_info":
			r.Files = files.add(r.Files, s)
		case "app_versions":
			for name := range s.Children() {
				if name == "app_version" && len(r.AppVersions) < maxAppVersions {
					r.AppVersions = appendTo(r.AppVersions, scanAppVersion(s))
				}
			}
		case "other_results":
			for name := range s.Children() {
				if name == "other_result" {
					r.OtherResults = appendTo(r.OtherResults, scanOther(s))
				}
			}
		case "in_progress_results":
			for name := range s.Children() {
				if name == "ip_result" {
					r.InProgress = appendTo(r.InProgress, scanInProgress(s))
				}
			}
		}
	}
	if err := s.Err(); err != nil {
		return nil, fmt.Errorf("scheduler request: %w", err)
	}
	return r, nil
}

func scanReported(s *bxml.Scanner, files *fileBudget) (r ReportedResult) {
	for name := range s.Children() {
		switch name {
		case "name":
			r.Name = s.Line(maxLong)
		case "final_cpu_time":
			scanSpan(s, &r.FinalCPUTime)
		case "final_elapsed_time":
			scanSpan(s, &r.FinalElapsedTime)
		case "exit_status":
			scanInt(s, &r.ExitStatus)
		case "state":
			n := 0
			scanInt(s, &n)
			r.State = ClientState(n)
		case "platform":
			r.Platform = s.Line(maxText)
		case "version_num", "app_version_num":
			scanInt(s, &r.VersionNum)
		case "plan_class":
			r.PlanClass = s.Line(maxText)
		case "final_peak_working_set_size":
			scanBytes(s, &r.PeakWorkingSet)
		case "final_peak_swap_size":
			scanBytes(s, &r.PeakSwap)
		case "final_peak_disk_usage":
			scanBytes(s, &r.PeakDisk)
		case "stderr_out":
			r.StderrOut = scanStderrOut(s)
		case "file_info", "file":
			r.Files = files.add(r.Files, s)
		}
	}
	return r
}

func scanOther(s *bxml.Scanner) OtherResult {
	o := OtherResult{AppVersion: -1}
	for name := range s.Children() {
		switch name {
		case "name":
			o.Name = s.Line(maxLong)
		case "app_version":
			scanInt(s, &o.AppVersion)
		case "plan_class":
			o.PlanClass = s.Line(maxText)
		}
	}
	return o
}

func scanInProgress(s *bxml.Scanner) (p InProgressResult) {
	for name := range s.Children() {
		switch name {
		case "name":
			p.Name = s.Line(maxLong)
		case "report_deadline":
			scanTime(s, &p.Deadline)
		case "time_remaining", "cpu_time_remaining":
			scanSpan(s, &p.TimeRemaining)
		case "avg_ncpus":
			s.Float(&p.AvgNCPUs)
		}
	}
	return p
}

func scanLine(s *bxml.Scanner) (v string) {
	for name := range s.Children() {
		if name == "name" {
			v = s.Line(maxText)
		}
	}
	return v
}

// A fileBudget is the number of files of a request that are still accepted. Each takes many times
// more memory than the shortest element that describes one.
type fileBudget int

func (b *fileBudget) add(list []FileInfo, s *bxml.Scanner) []FileInfo {
	if *b == 0 {
		return list // the element is skipped
	}
	*b--
	return append(list, scanFileInfo(s))
}
