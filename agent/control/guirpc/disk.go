package guirpc

import (
	"github.com/starling-grid/starling/agent/view"
	"github.com/starling-grid/starling/protocol/bxml"
)

func writeDisk(w *bxml.Writer, v view.Tools) {
	w.Open("disk_usage_summary")
	for _, p := range v.Projects {
		w.Open("project")
		w.Text("master_url", p.MasterURL)
		w.Float("disk_usage", float64(p.DiskUsed))
		w.Close("project")
	}
	w.Float("d_total", v.Host.DiskTotal)
	w.Float("d_free", v.Host.DiskFree)
	w.Float("d_boinc", float64(v.DiskUsed))
	w.Float("d_allowed", float64(v.DiskMay))
	w.Close("disk_usage_summary")
}
