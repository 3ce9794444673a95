package match

import (
	"math"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/protocol/bxml"
)

// limits are a host's limits for the tasks of a project, from its hardware and its volunteer's
// preferences. A limit that the host does not report is infinite.
type limits struct {
	ncpus     int     // that may compute
	memory    float64 // bytes that a task may use
	disk      float64 // bytes that tasks not yet there may use
	bandwidth float64 // bytes a second
}

// hostLimits computes the limits from a request.
//
// Source: BOINC sched/sched_send.cpp, get_mem_sizes and max_allowable_disk. Different here: a
// preference of 0 is no limit, as in clients since version 7.
func hostLimits(req *protocol.SchedulerRequest) limits {
	p := hostPrefs(req)
	h, d := req.Host, req.Disk
	l := limits{ncpus: max(1, h.NCPUs), memory: math.Inf(1), disk: math.Inf(1), bandwidth: math.Inf(1)}
	if pct := p["max_ncpus_pct"]; pct > 0 && pct < 100 {
		l.ncpus = max(1, int(float64(l.ncpus)*pct/100))
	}
	if h.MemBytes > 0 {
		l.memory = h.MemBytes
		if pct := max(p["ram_max_used_busy_pct"], p["ram_max_used_idle_pct"]); pct > 0 && pct < 100 {
			l.memory *= pct / 100
		}
	}
	if h.DiskFree > 0 {
		l.disk = h.DiskFree - p["disk_min_free_gb"]*giga
	}
	if gb := p["disk_max_used_gb"]; gb > 0 {
		l.disk = min(l.disk, gb*giga-d.UsedTotal)
	}
	if pct := p["disk_max_used_pct"]; pct > 0 && pct < 100 && h.DiskTotal > 0 {
		l.disk = min(l.disk, h.DiskTotal*pct/100-d.UsedTotal)
	}
	l.disk = max(0, l.disk)
	if bw := req.NetStats.BwDown; bw > 0 {
		l.bandwidth = bw // 0: it has not downloaded anything yet
	}
	return l
}

// Usable returns the bytes of memory and of disk that a task may use according to a request. A
// value that the request does not contain is +Inf.
func Usable(req *protocol.SchedulerRequest) (memory, disk float64) {
	l := hostLimits(req)
	return l.memory, l.disk
}

// hostPrefs returns the relevant numbers from the preferences in effect on the host. If the request
// does not contain these, it uses the preferences that the host has stored.
func hostPrefs(req *protocol.SchedulerRequest) map[string]float64 {
	text := req.WorkingPrefs
	if text == "" {
		text = req.GlobalPrefs
	}
	var w bxml.Writer
	w.Block("global_preferences", text)
	out := make(map[string]float64)
	_ = bxml.NewScanner(w.Bytes()).Decode("global_preferences", func(x bxml.Codec) {
		for _, name := range []string{"max_ncpus_pct", "ram_max_used_busy_pct", "ram_max_used_idle_pct", "disk_max_used_gb", "disk_max_used_pct", "disk_min_free_gb"} {
			v := 0.0
			if x.Float(name, &v); v > 0 && v < 1e12 {
				out[name] = v
			}
		}
	})
	return out
}
