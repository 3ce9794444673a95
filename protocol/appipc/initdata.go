package appipc

import (
	"strings"
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
func (d InitData) HostFPOPS() float64 {
	var v float64
	s := scan(d.HostInfo)
	for name := range s.Children() {
		if name == "p_fpops" {
			s.Float(&v)
		}
	}
	return v
}

// Encode returns the file. Its elements are in the order in which BOINC's client writes them.
func (d InitData) Encode() []byte {
	var w bxml.Writer
	w.Open("app_init_data")
	w.Int("major_version", int64(d.MajorVersion))
	w.Int("minor_version", int64(d.MinorVersion))
	w.Int("release", int64(d.Release))
	w.Int("app_version", int64(d.AppVersion))
	w.Int("userid", d.UserID)
	w.Int("teamid", d.TeamID)
	w.Int("hostid", d.HostID)
	w.Text("app_name", d.AppName)
	w.TextIf("plan_class", d.PlanClass)
	w.TextIf("symstore", d.Symstore)
	w.TextIf("acct_mgr_url", d.AcctMgrURL)
	if d.ProjectPreferences != "" {
		w.Block("project_preferences", d.ProjectPreferences)
	}
	w.TextIf("team_name", d.TeamName)
	w.TextIf("user_name", d.UserName)
	w.Text("project_dir", d.ProjectDir)
	w.Text("boinc_dir", d.BoincDir)
	w.Text("authenticator", d.Authenticator)
	w.Text("wu_name", d.WUName)
	w.Text("result_name", d.ResultName)
	if d.CommObjName != "" {
		w.Text("comm_obj_name", d.CommObjName)
	} else {
		w.Int("shm_key", int64(d.SHMKey))
	}
	w.Int("slot", int64(d.Slot))
	w.Int("client_pid", int64(d.ClientPID))
	w.Float("wu_cpu_time", d.WUCPUTime.Seconds())
	w.Float("starting_elapsed_time", d.StartingElapsedTime.Seconds())
	w.Bool("using_sandbox", d.UsingSandbox)
	w.Bool("vm_extensions_disabled", d.VMExtensionsDisabled)
	w.Float("user_total_credit", d.UserTotalCredit)
	w.Float("user_expavg_credit", d.UserExpavgCredit)
	w.Float("host_total_credit", d.HostTotalCredit)
	w.Float("host_expavg_credit", d.HostExpavgCredit)
	w.Float("resource_share_fraction", d.ResourceShareFraction)
	w.Float("checkpoint_period", d.CheckpointPeriod.Seconds())
	w.Float("fraction_done_start", d.FractionDoneStart)
	w.Float("fraction_done_end", d.FractionDoneEnd)
	w.Text("gpu_type", d.GPUType)
	w.Int("gpu_device_num", int64(d.GPUDeviceNum))
	w.Int("gpu_opencl_dev_index", int64(d.GPUOpenCLDevIndex))
	w.Float("gpu_usage", d.GPUUsage)
	w.Float("ncpus", d.NCPUs)
	w.Float("rsc_fpops_est", d.RscFPOpsEst)
	w.Float("rsc_fpops_bound", d.RscFPOpsBound)
	w.Float("rsc_memory_bound", float64(d.RscMemoryBound))
	w.Float("rsc_disk_bound", float64(d.RscDiskBound))
	w.Float("computation_deadline", unix(d.ComputationDeadline))
	w.Bool("vbox_window", d.VBoxWindow)
	w.Bool("no_priority_change", d.NoPriorityChange)
	w.Int("process_priority", int64(d.ProcessPriority))
	w.Int("process_priority_special", int64(d.ProcessPrioritySpecial))
	block(&w, "host_info", d.HostInfo)
	if d.ProxyInfo != "" {
		block(&w, "proxy_info", d.ProxyInfo)
	}
	block(&w, "global_preferences", d.GlobalPreferences)
	for _, name := range d.AppFiles {
		w.Text("app_file", name)
	}
	w.Close("app_init_data")
	return w.Bytes()
}

// block writes XML unchanged. Unlike bxml.Writer.Block, it leaves no blank line for an empty one.
func block(w *bxml.Writer, name, xml string) {
	if xml == "" {
		w.Text(name, "")
		return
	}
	w.Block(name, xml)
}

// inner returns an element's XML without the line ends next to its tags.
func inner(s *bxml.Scanner) string {
	return strings.TrimRight(strings.TrimLeft(s.Raw(), "\r\n"), " \t\r\n")
}
