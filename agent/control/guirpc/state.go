package guirpc

import (
	"time"

	"github.com/starling-grid/starling/agent/view"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/protocol/bxml"
)

func seconds(d time.Duration) float64 { return d.Seconds() }

func writeState(w *bxml.Writer, v view.Tools) {
	w.Open("client_state")
	writeHost(w, v)
	writeNetStats(w, v)
	writeTimes(w, v.Times)
	for _, p := range v.Projects {
		writeProject(w, v, p)
		for _, a := range p.Apps {
			w.Open("app")
			w.Text("name", a.Name)
			w.Text("user_friendly_name", a.UserFriendlyName)
			w.Bool("non_cpu_intensive", a.NonCPUIntensive)
			w.Close("app")
		}
		for _, a := range p.Versions {
			writeVersion(w, a)
		}
		for _, u := range p.Units {
			writeUnit(w, p, u)
		}
		for _, r := range p.Results {
			writeResult(w, p, r)
		}
	}
	c := protocol.CompatVersion
	w.Text("platform_name", v.Platforms[0])
	w.Int("core_client_major_version", int64(c.Major))
	w.Int("core_client_minor_version", int64(c.Minor))
	w.Int("core_client_release", int64(c.Release))
	w.Bool("executing_as_daemon", true)
	for _, name := range v.Platforms {
		w.Text("platform", name)
	}
	writePrefsWorking(w, v)
	w.Close("client_state")
}

func writeNetStats(w *bxml.Writer, v view.Tools) {
	w.Open("net_stats")
	w.Float("bwup", v.Up.Pace)
	w.Float("avg_up", v.Up.Daily)
	w.Float("avg_time_up", protocol.UnixSeconds(v.Up.At))
	w.Float("bwdown", v.Down.Pace)
	w.Float("avg_down", v.Down.Daily)
	w.Float("avg_time_down", protocol.UnixSeconds(v.Down.At))
	w.Close("net_stats")
}

func writeTimes(w *bxml.Writer, t protocol.TimeStats) {
	w.Open("time_stats")
	w.Float("on_frac", t.OnFrac)
	w.Float("connected_frac", t.ConnectedFrac)
	w.Float("cpu_and_network_available_frac", t.CPUAndNetworkAvailableFrac)
	w.Float("active_frac", t.ActiveFrac)
	w.Float("gpu_active_frac", t.ActiveFrac)
	w.Float("client_start_time", protocol.UnixSeconds(t.ClientStart))
	w.Float("total_start_time", protocol.UnixSeconds(t.TotalStart))
	w.Float("total_duration", seconds(t.TotalDuration))
	w.Float("total_active_duration", seconds(t.TotalActiveDuration))
	w.Float("total_gpu_active_duration", 0)
	w.Float("now", protocol.UnixSeconds(t.Now))
	w.Float("previous_uptime", seconds(t.PreviousUptime))
	w.Float("session_active_duration", seconds(t.SessionActiveDuration))
	w.Float("session_gpu_active_duration", 0)
	w.Close("time_stats")
}

func writeHost(w *bxml.Writer, v view.Tools) {
	w.Open("host_info")
	w.Raw(v.Host.InnerXML())
	w.Raw(protocol.CoprocsXML(v.Coprocs))
	w.Close("host_info")
}
