package boincconfig

import (
	"maps"
	"slices"

	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/internal/logflag"
	"github.com/starling-grid/starling/protocol/bxml"
)

// Write shows settings as a cc_config.xml, as far as they have a name there, and which
// GPUs the accounts may not use.
func Write(w *bxml.Writer, s settings.Settings, accounts []settings.Account) {
	w.Open("cc_config")
	w.Open("log_flags")
	for _, name := range slices.Sorted(maps.Keys(s.LogFlags)) {
		if name != logflag.SchedDecision { // not one of BOINC's
			w.Bool(name, s.LogFlags[name])
		}
	}
	w.Close("log_flags")
	w.Open("options")
	w.Bool("allow_multiple_clients", s.AllowMultipleClients)
	writeCoprocs(w, s.Coprocs)
	w.TextIf("device_name", s.DeviceName)
	for _, a := range accounts {
		writeExcluded(w, a)
	}
	for _, name := range s.ExclusiveApps {
		w.Text("exclusive_app", name)
	}
	for _, name := range s.ExclusiveGPUApps {
		w.Text("exclusive_gpu_app", name)
	}
	writeIgnored(w, s.IgnoreGPUs)
	w.Int("max_file_xfers", int64(s.MaxFileXfers))
	w.Int("max_file_xfers_per_project", int64(s.MaxFileXfersPerProject))
	ncpus := int64(s.NCPUs)
	if ncpus == 0 {
		ncpus = -1 // as in BOINC
	}
	w.Int("ncpus", ncpus)
	w.Bool("no_gpus", s.NoGPUs)
	w.Bool("no_priority_change", s.NoPriorityChange)
	if s.Proxy != "" {
		WriteProxy(w, s)
	}
	w.Bool("report_results_immediately", s.ReportResultsImmediately)
	w.Bool("use_all_gpus", s.UseAllGPUs)
	w.Close("options")
	w.Close("cc_config")
}
