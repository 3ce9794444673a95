package guirpc

import (
	"github.com/starling-grid/starling/protocol/bxml"
)

func writeAppConfig(w *bxml.Writer, p Project) {
	if p.Account.MaxConcurrent == 0 && len(p.Account.Apps) == 0 {
		w.Text("error", "app_config.xml not found")
		return
	}
	w.Open("app_config")
	for _, a := range p.Account.Apps {
		w.Open("app")
		w.Text("name", a.Name)
		w.Int("max_concurrent", int64(a.MaxConcurrent))
		w.Flag("report_results_immediately", a.ReportImmediately)
		w.Close("app")
		if a.AvgNCPUs > 0 || a.Cmdline != "" {
			w.Open("app_version")
			w.Text("app_name", a.Name)
			w.Float("avg_ncpus", a.AvgNCPUs)
			w.TextIf("cmdline", a.Cmdline)
			w.Close("app_version")
		}
	}
	if p.Account.MaxConcurrent > 0 {
		w.Int("project_max_concurrent", int64(p.Account.MaxConcurrent))
	}
	w.Close("app_config")
}
