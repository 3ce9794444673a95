package appipc

import (
	"fmt"

	"github.com/starling-grid/starling/protocol/bxml"
)

// ParseInitData reads init_data.xml. It skips unknown elements. Missing ones get the value of
// DefaultInitData, except shm_key: without it, the client does not have channels in MmapFile.
func ParseInitData(b []byte) (InitData, error) {
	d := DefaultInitData()
	d.SHMKey = 0
	s := bxml.NewScanner(b)
	if err := s.Find("app_init_data"); err != nil {
		return InitData{}, fmt.Errorf("parse %s: %w", InitDataFile, err)
	}
	for name := range s.Children() {
		d.element(s, name)
	}
	if err := s.Err(); err != nil {
		return InitData{}, fmt.Errorf("parse %s: %w", InitDataFile, err)
	}
	return d, nil
}

func (d *InitData) element(s *bxml.Scanner, name string) {
	switch name {
	case "major_version":
		integer(s, &d.MajorVersion)
	case "minor_version":
		integer(s, &d.MinorVersion)
	case "release":
		integer(s, &d.Release)
	case "app_version":
		integer(s, &d.AppVersion)
	case "userid":
		s.Int(&d.UserID)
	case "teamid":
		s.Int(&d.TeamID)
	case "hostid":
		s.Int(&d.HostID)
	case "app_name":
		d.AppName = s.Text()
	case "plan_class":
		d.PlanClass = s.Text()
	case "symstore":
		d.Symstore = s.Text()
	case "acct_mgr_url":
		d.AcctMgrURL = s.Text()
	case "project_preferences":
		d.ProjectPreferences = inner(s)
	case "team_name":
		d.TeamName = s.Text()
	case "user_name":
		d.UserName = s.Text()
	case "project_dir":
		d.ProjectDir = s.Text()
	case "boinc_dir":
		d.BoincDir = s.Text()
	case "authenticator":
		d.Authenticator = s.Text()
	case "wu_name":
		d.WUName = s.Text()
	case "result_name":
		d.ResultName = s.Text()
	case "shm_key":
		integer(s, &d.SHMKey)
	case "comm_obj_name":
		d.CommObjName = s.Text()
	case "slot":
		integer(s, &d.Slot)
	case "client_pid":
		integer(s, &d.ClientPID)
	case "wu_cpu_time":
		duration(s, &d.WUCPUTime)
	case "starting_elapsed_time":
		duration(s, &d.StartingElapsedTime)
	case "using_sandbox":
		d.UsingSandbox = s.Flag()
	case "vm_extensions_disabled":
		d.VMExtensionsDisabled = s.Flag()
	case "user_total_credit":
		s.Float(&d.UserTotalCredit)
	case "user_expavg_credit":
		s.Float(&d.UserExpavgCredit)
	case "host_total_credit":
		s.Float(&d.HostTotalCredit)
	case "host_expavg_credit":
		s.Float(&d.HostExpavgCredit)
	default:
		d.limits(s, name)
	}
}

// limits reads the second half: how to run and which resources may be used.
func (d *InitData) limits(s *bxml.Scanner, name string) {
	switch name {
	case "resource_share_fraction":
		s.Float(&d.ResourceShareFraction)
	case "checkpoint_period":
		duration(s, &d.CheckpointPeriod)
	case "fraction_done_start":
		s.Float(&d.FractionDoneStart)
	case "fraction_done_end":
		s.Float(&d.FractionDoneEnd)
	case "gpu_type":
		d.GPUType = s.Text()
	case "gpu_device_num":
		integer(s, &d.GPUDeviceNum)
	case "gpu_opencl_dev_index":
		integer(s, &d.GPUOpenCLDevIndex)
	case "gpu_usage":
		s.Float(&d.GPUUsage)
	case "ncpus":
		s.Float(&d.NCPUs)
	case "rsc_fpops_est":
		s.Float(&d.RscFPOpsEst)
	case "rsc_fpops_bound":
		s.Float(&d.RscFPOpsBound)
	case "rsc_memory_bound":
		bytesOf(s, &d.RscMemoryBound)
	case "rsc_disk_bound":
		bytesOf(s, &d.RscDiskBound)
	case "computation_deadline":
		instant(s, &d.ComputationDeadline)
	case "vbox_window":
		d.VBoxWindow = s.Flag()
	case "no_priority_change":
		d.NoPriorityChange = s.Flag()
	case "process_priority":
		integer(s, &d.ProcessPriority)
	case "process_priority_special":
		integer(s, &d.ProcessPrioritySpecial)
	case "host_info":
		d.HostInfo = inner(s)
	case "proxy_info":
		d.ProxyInfo = inner(s)
	case "global_preferences":
		d.GlobalPreferences = inner(s)
	case "app_file":
		d.AppFiles = append(d.AppFiles, s.Text())
	}
}
