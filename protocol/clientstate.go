package protocol

import (
	"fmt"
	"time"

	"github.com/starling-grid/starling/protocol/bxml"
)

// A ClientStateFile is the content of the client_state.xml of BOINC's client, as far as another
// client can use it.
type ClientStateFile struct {
	Host      HostInfo
	Times     TimeStats
	Projects  []ClientProject
	Tasks     []ActiveTask
	RunMode   int // 1 always, 2 auto, 3 never, or 0 if missing
	NetMode   int
	HostVenue string
	ProxyInfo string // raw content of <proxy_info>: the proxy that a tool has set
}

// A ClientProject is a project in the file, with everything that belongs to it.
type ClientProject struct {
	MasterURL, Name                  string
	UserName, TeamName               string
	HostVenue, CodeSignKey           string
	EmailHash, CrossProjectID        string
	SchedulerURLs                    []string
	HostID, RPCSeqno, UserID         int64
	UserTotalCredit, HostTotalCredit float64
	UserExpavgCredit                 float64
	HostExpavgCredit                 float64
	DurationCorrectionFactor         float64
	ResourceShare                    float64
	NRPCFailures                     int
	MinRPCTime                       time.Time
	NoMoreWork, Suspended, Anonymous bool

	Elements // except for its results
	Held     []HeldResult
}

// A HeldResult is a result on the client's host.
type HeldResult struct {
	Result
	State            ClientState
	FinalCPUTime     time.Duration
	FinalElapsedTime time.Duration
	ExitStatus       int
	StderrOut        string
	PeakWorkingSet   int64
	Received         time.Time
	Completed        time.Time
	ReadyToReport    bool
	Acknowledged     bool // by the server, so that it only waits to be deleted
	Suspended        bool
}

// An ActiveTask is a result that was started, with its last checkpoint.
type ActiveTask struct {
	ProjectURL, ResultName string
	Slot                   int
	CPUTime, Elapsed       time.Duration
	Fraction               float64
}

// ParseClientState reads a client_state.xml. The records of a project follow it and do not contain
// its name.
func ParseClientState(b []byte) (*ClientStateFile, error) {
	s := bxml.NewScanner(b).Foreign()
	if err := s.Find("client_state"); err != nil {
		return nil, fmt.Errorf("client_state.xml: %w", err)
	}
	f := new(ClientStateFile)
	var p *ClientProject
	for name := range s.Children() {
		switch name {
		case "host_info":
			part(s.Child(), name, &f.Host)
		case "time_stats":
			part(s.Child(), name, &f.Times)
		case "project":
			if len(f.Projects) < maxList {
				f.Projects = append(f.Projects, scanClientProject(s))
				p = &f.Projects[len(f.Projects)-1]
			}
		case "active_task_set":
			for name := range s.Children() {
				if name == "active_task" {
					f.Tasks = appendTo(f.Tasks, scanActiveTask(s))
				}
			}
		case "proxy_info":
			f.ProxyInfo = s.RawUpTo(maxText)
		case "user_run_request":
			scanInt(s, &f.RunMode)
		case "user_network_request":
			scanInt(s, &f.NetMode)
		case "host_venue":
			f.HostVenue = s.Text()
		case "result":
			if p != nil {
				p.Held = appendTo(p.Held, scanHeldResult(s))
			}
		default:
			if p != nil {
				p.elements(s.Child())
			}
		}
	}
	if err := s.Err(); err != nil {
		return nil, fmt.Errorf("client_state.xml: %w", err)
	}
	return f, nil
}

func scanClientProject(s *bxml.Scanner) ClientProject {
	p := ClientProject{DurationCorrectionFactor: 1, ResourceShare: 100}
	for name := range s.Children() {
		switch name {
		case "master_url":
			p.MasterURL = s.Text()
		case "project_name":
			p.Name = s.Text()
		case "user_name":
			p.UserName = s.Text()
		case "team_name":
			p.TeamName = s.Text()
		case "host_venue":
			p.HostVenue = s.Text()
		case "email_hash":
			p.EmailHash = s.Text()
		case "cross_project_id":
			p.CrossProjectID = s.Text()
		case "code_sign_key":
			p.CodeSignKey = s.Raw()
		case "scheduler_url":
			p.SchedulerURLs = appendURL(p.SchedulerURLs, s.Text())
		case "hostid":
			s.Int(&p.HostID)
		case "userid":
			s.Int(&p.UserID)
		case "rpc_seqno":
			s.Int(&p.RPCSeqno)
		case "user_total_credit":
			s.Float(&p.UserTotalCredit)
		case "user_expavg_credit":
			s.Float(&p.UserExpavgCredit)
		case "host_total_credit":
			s.Float(&p.HostTotalCredit)
		case "host_expavg_credit":
			s.Float(&p.HostExpavgCredit)
		case "duration_correction_factor":
			s.Float(&p.DurationCorrectionFactor)
		case "resource_share":
			s.Float(&p.ResourceShare)
		case "nrpc_failures":
			scanInt(s, &p.NRPCFailures)
		case "min_rpc_time":
			scanTime(s, &p.MinRPCTime)
		case "dont_request_more_work":
			p.NoMoreWork = s.Flag()
		case "suspended_via_gui":
			p.Suspended = s.Flag()
		case "anonymous_platform":
			p.Anonymous = s.Flag()
		}
	}
	return p
}

func scanHeldResult(s *bxml.Scanner) (r HeldResult) {
	var peak float64
	for name := range s.Children() {
		switch name {
		case "state":
			r.State.field(s.Child())
		case "final_cpu_time":
			scanSpan(s, &r.FinalCPUTime)
		case "final_elapsed_time":
			scanSpan(s, &r.FinalElapsedTime)
		case "final_peak_working_set_size":
			s.Float(&peak)
			r.PeakWorkingSet = int64(peak)
		case "exit_status":
			scanInt(s, &r.ExitStatus)
		case "stderr_out":
			r.StderrOut = s.Text()
		case "received_time":
			scanTime(s, &r.Received)
		case "completed_time":
			scanTime(s, &r.Completed)
		case "ready_to_report":
			r.ReadyToReport = s.Flag()
		case "got_server_ack":
			r.Acknowledged = s.Flag()
		case "suspended_via_gui":
			r.Suspended = s.Flag()
		default:
			r.fields(s.Child())
		}
	}
	return r
}

func scanActiveTask(s *bxml.Scanner) (t ActiveTask) {
	for name := range s.Children() {
		switch name {
		case "project_master_url":
			t.ProjectURL = s.Text()
		case "result_name":
			t.ResultName = s.Text()
		case "slot":
			scanInt(s, &t.Slot)
		case "checkpoint_cpu_time":
			scanSpan(s, &t.CPUTime)
		case "checkpoint_elapsed_time":
			scanSpan(s, &t.Elapsed)
		case "checkpoint_fraction_done":
			s.Float(&t.Fraction)
		}
	}
	return t
}
