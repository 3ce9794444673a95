package protocol

import "github.com/starling-grid/starling/protocol/bxml"

// InnerXML returns the content of the <host_info> element, which requests and init_data.xml share.
func (h HostInfo) InnerXML() string {
	var w bxml.Writer
	w.Fields(h.fields)
	return string(w.Bytes())
}

func (h *HostInfo) fields(x bxml.Codec) {
	opt := x.Optional()
	x.Int("timezone", &h.Timezone)
	x.Line("domain_name", &h.DomainName, maxText)
	x.Line("ip_addr", &h.IPAddr, maxText)
	x.Line("host_cpid", &h.HostCPID, maxText)
	integer(x, "p_ncpus", &h.NCPUs)
	x.Line("p_vendor", &h.Vendor, maxText)
	x.Line("p_model", &h.Model, maxText)
	x.Line("p_features", &h.Features, maxFeatures)
	x.Float("p_fpops", &h.Fpops)
	x.Float("p_iops", &h.Iops)
	x.Float("p_membw", &h.Membw)
	instant(x, "p_calculated", &h.Calculated)
	x.Bool("p_vm_extensions_disabled", &h.VMExtensionsDisabled)
	x.Float("m_nbytes", &h.MemBytes)
	x.Float("m_cache", &h.CacheBytes)
	x.Float("m_swap", &h.SwapBytes)
	x.Float("d_total", &h.DiskTotal)
	x.Float("d_free", &h.DiskFree)
	x.Line("os_name", &h.OSName, maxText)
	x.Line("os_version", &h.OSVersion, maxText)
	h.containers(x)
	opt.Line("product_name", &h.ProductName, maxText)
	opt.Line("virtualbox_version", &h.VirtualBoxVersion, maxText)
	x.WriteInt("n_usable_coprocs", int64(h.Coprocs))
	eachFrom(x, "opencl_cpu_prop", &h.OpenCLCPUs, maxOpenCLCPUs, OpenCLCPU{})
}

func (h *HostInfo) containers(x bxml.Codec) {
	x.WriteBool("wsl_available", false) // Linux programs are not run on Windows
	if s := x.Reading("wsl"); s != nil {
		scanWSL(s, h)
	}
	own := x.WriteIf(h.DockerVersion != "")
	own.Line("docker_version", &h.DockerVersion, maxText)
	dockerType(own, &h.DockerType)
}

func dockerType(x bxml.Codec, t *DockerType) {
	if s := x.Reading("docker_type"); s != nil {
		var n int
		scanInt(s, &n)
		if *t = DockerType(n); *t != Docker && *t != Podman {
			*t = NoDocker
		}
	}
	x.WriteInt("docker_type", int64(*t))
}

// scanWSL reads which of the Linux systems on a Windows host runs containers.
//
// Source: BOINC lib/wslinfo.cpp, WSL_DISTRO::write_xml.
func scanWSL(s *bxml.Scanner, h *HostInfo) {
	for name := range s.Children() {
		if name != "distro" {
			continue
		}
		var version string
		var kind DockerType
		disallowed := false
		s.Fields(func(x bxml.Codec) {
			x.Flag("disallowed", &disallowed)
			x.Line("docker_version", &version, maxText)
			dockerType(x, &kind)
		})
		if !disallowed && h.DockerVersion == "" {
			h.DockerVersion, h.DockerType = version, kind
		}
	}
}

func (d *DiskUsage) fields(x bxml.Codec) {
	x.Float("d_boinc_used_total", &d.UsedTotal)
	x.Float("d_boinc_used_project", &d.UsedProject)
	x.Float("d_project_share", &d.ProjectShare)
}

func (t *TimeStats) fields(x bxml.Codec) {
	x.Float("on_frac", &t.OnFrac)
	x.Float("connected_frac", &t.ConnectedFrac)
	x.Float("cpu_and_network_available_frac", &t.CPUAndNetworkAvailableFrac)
	x.Float("active_frac", &t.ActiveFrac)
	gpu := &t.GPUActiveFrac
	if x.Writing() != nil && *gpu <= 0 {
		gpu = &t.ActiveFrac
	}
	x.Float("gpu_active_frac", gpu)
	instant(x, "client_start_time", &t.ClientStart)
	instant(x, "total_start_time", &t.TotalStart)
	span(x, "total_duration", &t.TotalDuration)
	span(x, "total_active_duration", &t.TotalActiveDuration)
	x.WriteFloat("total_gpu_active_duration", 0)
	instant(x, "now", &t.Now)
	span(x, "previous_uptime", &t.PreviousUptime)
	span(x, "session_active_duration", &t.SessionActiveDuration)
	x.WriteFloat("session_gpu_active_duration", 0)
}

func (n *NetStats) fields(x bxml.Codec) {
	x.Float("bwup", &n.BwUp)
	x.Float("avg_up", &n.AvgUp)
	instant(x, "avg_time_up", &n.AvgTimeUp)
	x.Float("bwdown", &n.BwDown)
	x.Float("avg_down", &n.AvgDown)
	instant(x, "avg_time_down", &n.AvgTimeDown)
}
