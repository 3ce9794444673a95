package protocol

import "github.com/starling-grid/starling/protocol/bxml"

func scanHostInfo(s *bxml.Scanner) HostInfo {
	var h HostInfo
	for name := range s.Children() {
		switch name {
		case "timezone":
			s.Int(&h.Timezone)
		case "domain_name":
			h.DomainName = s.Line(maxText)
		case "ip_addr":
			h.IPAddr = s.Line(maxText)
		case "host_cpid":
			h.HostCPID = s.Line(maxText)
		case "p_ncpus":
			scanInt(s, &h.NCPUs)
		case "p_vendor":
			h.Vendor = s.Line(maxText)
		case "p_model":
			h.Model = s.Line(maxText)
		case "p_features":
			h.Features = s.Line(maxFeatures)
		case "p_fpops":
			s.Float(&h.Fpops)
		case "p_iops":
			s.Float(&h.Iops)
		case "p_membw":
			s.Float(&h.Membw)
		case "p_calculated":
			scanTime(s, &h.Calculated)
		case "m_nbytes":
			s.Float(&h.MemBytes)
		case "m_cache":
			s.Float(&h.CacheBytes)
		case "m_swap":
			s.Float(&h.SwapBytes)
		case "d_total":
			s.Float(&h.DiskTotal)
		case "d_free":
			s.Float(&h.DiskFree)
		case "os_name":
			h.OSName = s.Line(maxText)
		case "os_version":
			h.OSVersion = s.Line(maxText)
		case "product_name":
			h.ProductName = s.Line(maxText)
		case "p_vm_extensions_disabled":
			h.VMExtensionsDisabled = s.Flag()
		case "virtualbox_version":
			h.VirtualBoxVersion = s.Line(maxText)
		case "docker_version":
			h.DockerVersion = s.Line(maxText)
		case "docker_type":
			h.DockerType = scanDockerType(s)
		case "wsl":
			scanWSL(s, &h)
		case "opencl_cpu_prop":
			if c := scanOpenCLCPU(s); len(h.OpenCLCPUs) < maxOpenCLCPUs {
				h.OpenCLCPUs = append(h.OpenCLCPUs, c)
			}
		}
	}
	return h
}

func scanDockerType(s *bxml.Scanner) DockerType {
	var n int
	scanInt(s, &n)
	if t := DockerType(n); t == Docker || t == Podman {
		return t
	}
	return NoDocker
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
		for name := range s.Children() {
			switch name {
			case "disallowed":
				disallowed = s.Flag()
			case "docker_version":
				version = s.Line(maxText)
			case "docker_type":
				kind = scanDockerType(s)
			}
		}
		if !disallowed && h.DockerVersion == "" {
			h.DockerVersion, h.DockerType = version, kind
		}
	}
}

// InnerXML returns the content of the <host_info> element, which requests and init_data.xml share.
func (h HostInfo) InnerXML() string { return text(h.writeInner) }

func (h HostInfo) write(w *bxml.Writer) {
	w.Open("host_info")
	h.writeInner(w)
	w.Close("host_info")
}

func (h HostInfo) writeInner(w *bxml.Writer) {
	w.Int("timezone", h.Timezone)
	w.Text("domain_name", h.DomainName)
	w.Text("ip_addr", h.IPAddr)
	w.Text("host_cpid", h.HostCPID)
	w.Int("p_ncpus", int64(h.NCPUs))
	w.Text("p_vendor", h.Vendor)
	w.Text("p_model", h.Model)
	w.Text("p_features", h.Features)
	w.Float("p_fpops", h.Fpops)
	w.Float("p_iops", h.Iops)
	w.Float("p_membw", h.Membw)
	w.Float("p_calculated", UnixSeconds(h.Calculated))
	w.Bool("p_vm_extensions_disabled", h.VMExtensionsDisabled)
	w.Float("m_nbytes", h.MemBytes)
	w.Float("m_cache", h.CacheBytes)
	w.Float("m_swap", h.SwapBytes)
	w.Float("d_total", h.DiskTotal)
	w.Float("d_free", h.DiskFree)
	w.Text("os_name", h.OSName)
	w.Text("os_version", h.OSVersion)
	w.Bool("wsl_available", false) // Linux programs are not run on Windows
	if h.DockerVersion != "" {
		w.Text("docker_version", h.DockerVersion)
		w.Int("docker_type", int64(h.DockerType))
	}
	w.TextIf("product_name", h.ProductName)
	w.TextIf("virtualbox_version", h.VirtualBoxVersion)
	w.Int("n_usable_coprocs", int64(h.Coprocs))
	for i := range h.OpenCLCPUs {
		h.OpenCLCPUs[i].write(w)
	}
}

func scanDiskUsage(s *bxml.Scanner) (d DiskUsage) {
	for name := range s.Children() {
		switch name {
		case "d_boinc_used_total":
			s.Float(&d.UsedTotal)
		case "d_boinc_used_project":
			s.Float(&d.UsedProject)
		case "d_project_share":
			s.Float(&d.ProjectShare)
		}
	}
	return d
}

func (d DiskUsage) write(w *bxml.Writer) {
	w.Open("disk_usage")
	w.Float("d_boinc_used_total", d.UsedTotal)
	w.Float("d_boinc_used_project", d.UsedProject)
	w.Float("d_project_share", d.ProjectShare)
	w.Close("disk_usage")
}

func scanTimeStats(s *bxml.Scanner) (t TimeStats) {
	for name := range s.Children() {
		switch name {
		case "on_frac":
			s.Float(&t.OnFrac)
		case "connected_frac":
			s.Float(&t.ConnectedFrac)
		case "cpu_and_network_available_frac":
			s.Float(&t.CPUAndNetworkAvailableFrac)
		case "active_frac":
			s.Float(&t.ActiveFrac)
		case "gpu_active_frac":
			s.Float(&t.GPUActiveFrac)
		case "client_start_time":
			scanTime(s, &t.ClientStart)
		case "total_start_time":
			scanTime(s, &t.TotalStart)
		case "now":
			scanTime(s, &t.Now)
		case "total_duration":
			scanSpan(s, &t.TotalDuration)
		case "total_active_duration":
			scanSpan(s, &t.TotalActiveDuration)
		case "previous_uptime":
			scanSpan(s, &t.PreviousUptime)
		case "session_active_duration":
			scanSpan(s, &t.SessionActiveDuration)
		}
	}
	return t
}

func (t TimeStats) write(w *bxml.Writer) {
	w.Open("time_stats")
	w.Float("on_frac", t.OnFrac)
	w.Float("connected_frac", t.ConnectedFrac)
	w.Float("cpu_and_network_available_frac", t.CPUAndNetworkAvailableFrac)
	w.Float("active_frac", t.ActiveFrac)
	gpu := t.GPUActiveFrac
	if gpu <= 0 {
		gpu = t.ActiveFrac
	}
	w.Float("gpu_active_frac", gpu)
	w.Float("client_start_time", UnixSeconds(t.ClientStart))
	w.Float("total_start_time", UnixSeconds(t.TotalStart))
	w.Float("total_duration", t.TotalDuration.Seconds())
	w.Float("total_active_duration", t.TotalActiveDuration.Seconds())
	w.Float("total_gpu_active_duration", 0)
	w.Float("now", UnixSeconds(t.Now))
	w.Float("previous_uptime", t.PreviousUptime.Seconds())
	w.Float("session_active_duration", t.SessionActiveDuration.Seconds())
	w.Float("session_gpu_active_duration", 0)
	w.Close("time_stats")
}

func scanNetStats(s *bxml.Scanner) (n NetStats) {
	for name := range s.Children() {
		switch name {
		case "bwup":
			s.Float(&n.BwUp)
		case "bwdown":
			s.Float(&n.BwDown)
		case "avg_up":
			s.Float(&n.AvgUp)
		case "avg_down":
			s.Float(&n.AvgDown)
		case "avg_time_up":
			scanTime(s, &n.AvgTimeUp)
		case "avg_time_down":
			scanTime(s, &n.AvgTimeDown)
		}
	}
	return n
}

func (n NetStats) write(w *bxml.Writer) {
	w.Open("net_stats")
	w.Float("bwup", n.BwUp)
	w.Float("avg_up", n.AvgUp)
	w.Float("avg_time_up", UnixSeconds(n.AvgTimeUp))
	w.Float("bwdown", n.BwDown)
	w.Float("avg_down", n.AvgDown)
	w.Float("avg_time_down", UnixSeconds(n.AvgTimeDown))
	w.Close("net_stats")
}
