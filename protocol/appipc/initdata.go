package appipc

import (
	"fmt"
	"time"

	"github.com/starling-grid/starling/protocol/bxml"
)

// InitData is the content of init_data.xml, everything that an application receives from its client
// at its start. Sizes are in bytes, speeds in FLOPS.
type InitData struct {
	MajorVersion, MinorVersion, Release int // of the client
	AppVersion                          int // version_num, 101 for 1.01
	UserID, TeamID, HostID              int64
	AppName                             string
	PlanClass                           string // left out if empty, as the next five
	Symstore                            string
	AcctMgrURL                          string
	ProjectPreferences                  string // XML, as the project wrote it
	TeamName, UserName                  string
	ProjectDir, BoincDir                string // absolute
	Authenticator                       string
	WUName, ResultName                  string
	SHMKey                              int    // -1: the channels are in MmapFile
	CommObjName                         string // the name for SegmentName on Windows, "" on other systems
	Slot                                int
	ClientPID                           int           // 0: watch for heartbeats instead
	WUCPUTime                           time.Duration // CPU time at the last checkpoint
	StartingElapsedTime                 time.Duration // elapsed time at the last checkpoint
	UsingSandbox, VMExtensionsDisabled  bool
	UserTotalCredit, UserExpavgCredit   float64
	HostTotalCredit, HostExpavgCredit   float64
	ResourceShareFraction               float64       // 0..1
	CheckpointPeriod                    time.Duration // 0: the application's default of 300 s
	FractionDoneStart, FractionDoneEnd  float64       // the range of the whole task that this run's 0..1 corresponds to
	GPUType                             string
	GPUDeviceNum, GPUOpenCLDevIndex     int // -1: none
	GPUUsage, NCPUs                     float64
	RscFPOpsEst, RscFPOpsBound          float64
	RscMemoryBound, RscDiskBound        int64
	ComputationDeadline                 time.Time
	VBoxWindow, NoPriorityChange        bool
	ProcessPriority                     int    // -1: the default
	ProcessPrioritySpecial              int    // the same for tasks that use a GPU or little CPU
	HostInfo                            string // XML inside <host_info>
	ProxyInfo                           string // XML inside <proxy_info>, left out if empty
	GlobalPreferences                   string // XML inside <global_preferences>
	AppFiles                            []string
}

// DefaultInitData returns the default values of all fields. Some are not zero.
func DefaultInitData() InitData {
	return InitData{
		SHMKey: -1, FractionDoneEnd: 1, GPUDeviceNum: -1, GPUOpenCLDevIndex: -1,
		ProcessPriority: -1, ProcessPrioritySpecial: -1, NCPUs: 1,
	}
}

// HostFPOPS returns the benchmarked speed of one of the host's CPUs, or 0.
func (d InitData) HostFPOPS() (v float64) {
	scan(d.HostInfo, func(x bxml.Codec) { x.Float("p_fpops", &v) })
	return v
}

// Encode returns the file. Its elements are in the order in which BOINC's client writes them.
func (d InitData) Encode() []byte {
	var w bxml.Writer
	w.Element("app_init_data", d.fields)
	return w.Bytes()
}

// ParseInitData reads init_data.xml. It skips unknown elements. Missing ones get the value of
// DefaultInitData, except shm_key: without it, the client does not have channels in MmapFile.
func ParseInitData(b []byte) (InitData, error) {
	d := DefaultInitData()
	d.SHMKey = 0
	if err := bxml.NewScanner(b).Decode("app_init_data", d.fields); err != nil {
		return InitData{}, fmt.Errorf("parse %s: %w", InitDataFile, err)
	}
	return d, nil
}

func (d *InitData) fields(x bxml.Codec) {
	opt := x.Optional()
	integer(x, "major_version", &d.MajorVersion)
	integer(x, "minor_version", &d.MinorVersion)
	integer(x, "release", &d.Release)
	integer(x, "app_version", &d.AppVersion)
	x.Int("userid", &d.UserID)
	x.Int("teamid", &d.TeamID)
	x.Int("hostid", &d.HostID)
	x.Text("app_name", &d.AppName)
	opt.Text("plan_class", &d.PlanClass)
	opt.Text("symstore", &d.Symstore)
	opt.Text("acct_mgr_url", &d.AcctMgrURL)
	inner(opt, "project_preferences", &d.ProjectPreferences)
	opt.Text("team_name", &d.TeamName)
	opt.Text("user_name", &d.UserName)
	x.Text("project_dir", &d.ProjectDir)
	x.Text("boinc_dir", &d.BoincDir)
	x.Text("authenticator", &d.Authenticator)
	x.Text("wu_name", &d.WUName)
	x.Text("result_name", &d.ResultName)
	opt.Text("comm_obj_name", &d.CommObjName)
	integer(x.WriteIf(d.CommObjName == ""), "shm_key", &d.SHMKey)
	integer(x, "slot", &d.Slot)
	integer(x, "client_pid", &d.ClientPID)
	duration(x, "wu_cpu_time", &d.WUCPUTime)
	duration(x, "starting_elapsed_time", &d.StartingElapsedTime)
	x.Bool("using_sandbox", &d.UsingSandbox)
	x.Bool("vm_extensions_disabled", &d.VMExtensionsDisabled)
	x.Float("user_total_credit", &d.UserTotalCredit)
	x.Float("user_expavg_credit", &d.UserExpavgCredit)
	x.Float("host_total_credit", &d.HostTotalCredit)
	x.Float("host_expavg_credit", &d.HostExpavgCredit)
	x.Float("resource_share_fraction", &d.ResourceShareFraction)
	duration(x, "checkpoint_period", &d.CheckpointPeriod)
	x.Float("fraction_done_start", &d.FractionDoneStart)
	x.Float("fraction_done_end", &d.FractionDoneEnd)
	x.Text("gpu_type", &d.GPUType)
	integer(x, "gpu_device_num", &d.GPUDeviceNum)
	integer(x, "gpu_opencl_dev_index", &d.GPUOpenCLDevIndex)
	x.Float("gpu_usage", &d.GPUUsage)
	x.Float("ncpus", &d.NCPUs)
	x.Float("rsc_fpops_est", &d.RscFPOpsEst)
	x.Float("rsc_fpops_bound", &d.RscFPOpsBound)
	floatBytes(x, "rsc_memory_bound", &d.RscMemoryBound)
	floatBytes(x, "rsc_disk_bound", &d.RscDiskBound)
	instant(x, "computation_deadline", &d.ComputationDeadline)
	x.Bool("vbox_window", &d.VBoxWindow)
	x.Bool("no_priority_change", &d.NoPriorityChange)
	integer(x, "process_priority", &d.ProcessPriority)
	integer(x, "process_priority_special", &d.ProcessPrioritySpecial)
	inner(x, "host_info", &d.HostInfo)
	inner(opt, "proxy_info", &d.ProxyInfo)
	inner(x, "global_preferences", &d.GlobalPreferences)
	if s := x.Reading("app_file"); s != nil {
		d.AppFiles = append(d.AppFiles, s.Text())
	}
	if w := x.Writing(); w != nil {
		for _, name := range d.AppFiles {
			w.Text("app_file", name)
		}
	}
}
