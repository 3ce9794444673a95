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
	f := new(ClientStateFile)
	if err := bxml.NewScanner(b).Foreign().Decode("client_state", f.fields); err != nil {
		return nil, fmt.Errorf("client_state.xml: %w", err)
	}
	return f, nil
}

func (f *ClientStateFile) fields(x bxml.Codec) {
	part(x, "host_info", &f.Host)
	part(x, "time_stats", &f.Times)
	eachFrom(x, "project", &f.Projects, maxList, ClientProject{DurationCorrectionFactor: 1, ResourceShare: 100})
	x.Element("active_task_set", func(x bxml.Codec) { each(x, "active_task", &f.Tasks) })
	x.Block("proxy_info", &f.ProxyInfo, maxText)
	integer(x, "user_run_request", &f.RunMode)
	integer(x, "user_network_request", &f.NetMode)
	x.Text("host_venue", &f.HostVenue)
	if n := len(f.Projects); n > 0 {
		if p := &f.Projects[n-1]; x.Reading("result") != nil {
			each(x, "result", &p.Held)
		} else {
			p.elements(x)
		}
	}
}

func (p *ClientProject) fields(x bxml.Codec) {
	x.Text("master_url", &p.MasterURL)
	x.Text("project_name", &p.Name)
	x.Text("user_name", &p.UserName)
	x.Text("team_name", &p.TeamName)
	x.Text("host_venue", &p.HostVenue)
	x.Text("email_hash", &p.EmailHash)
	x.Text("cross_project_id", &p.CrossProjectID)
	x.Raw("code_sign_key", &p.CodeSignKey)
	if s := x.Reading("scheduler_url"); s != nil {
		p.SchedulerURLs = appendURL(p.SchedulerURLs, s.Text())
	}
	x.Int("hostid", &p.HostID)
	x.Int("userid", &p.UserID)
	x.Int("rpc_seqno", &p.RPCSeqno)
	x.Float("user_total_credit", &p.UserTotalCredit)
	x.Float("user_expavg_credit", &p.UserExpavgCredit)
	x.Float("host_total_credit", &p.HostTotalCredit)
	x.Float("host_expavg_credit", &p.HostExpavgCredit)
	x.Float("duration_correction_factor", &p.DurationCorrectionFactor)
	x.Float("resource_share", &p.ResourceShare)
	integer(x, "nrpc_failures", &p.NRPCFailures)
	instant(x, "min_rpc_time", &p.MinRPCTime)
	x.Flag("dont_request_more_work", &p.NoMoreWork)
	x.Flag("suspended_via_gui", &p.Suspended)
	x.Flag("anonymous_platform", &p.Anonymous)
}

func (r *HeldResult) fields(x bxml.Codec) {
	r.Result.fields(x)
	r.State.field(x)
	span(x, "final_cpu_time", &r.FinalCPUTime)
	span(x, "final_elapsed_time", &r.FinalElapsedTime)
	floatSize(x, "final_peak_working_set_size", &r.PeakWorkingSet)
	integer(x, "exit_status", &r.ExitStatus)
	x.Text("stderr_out", &r.StderrOut)
	instant(x, "received_time", &r.Received)
	instant(x, "completed_time", &r.Completed)
	x.Flag("ready_to_report", &r.ReadyToReport)
	x.Flag("got_server_ack", &r.Acknowledged)
	x.Flag("suspended_via_gui", &r.Suspended)
}

func (t *ActiveTask) fields(x bxml.Codec) {
	x.Text("project_master_url", &t.ProjectURL)
	x.Text("result_name", &t.ResultName)
	integer(x, "slot", &t.Slot)
	span(x, "checkpoint_cpu_time", &t.CPUTime)
	span(x, "checkpoint_elapsed_time", &t.Elapsed)
	x.Float("checkpoint_fraction_done", &t.Fraction)
}
