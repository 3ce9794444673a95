package boincconfig

import (
	"maps"
	"slices"

	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/internal/logflag"
	"github.com/starling-grid/starling/protocol/bxml"
)

// Write shows settings as a cc_config.xml, as far as they have a name there.
func Write(w *bxml.Writer, s settings.Settings) {
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
	w.TextIf("device_name", s.DeviceName)
	for _, name := range s.ExclusiveApps {
		w.Text("exclusive_app", name)
	}
	w.Int("max_file_xfers", int64(s.MaxFileXfers))
	w.Int("max_file_xfers_per_project", int64(s.MaxFileXfersPerProject))
	ncpus := int64(s.NCPUs)
	if ncpus == 0 {
		ncpus = -1 // as BOINC says it
	}
	w.Int("ncpus", ncpus)
	w.Bool("no_priority_change", s.NoPriorityChange)
	w.Bool("report_results_immediately", s.ReportResultsImmediately)
	w.Close("options")
	w.Close("cc_config")
}

// Parse returns what a cc_config.xml changes of settings: those that have a name there.
// What it does not say stays.
func Parse(src []byte) (changes func(*settings.Settings), err error) {
	s := bxml.NewScanner(src)
	if err := s.Find("cc_config"); err != nil {
		return nil, err
	}
	var all []func(*settings.Settings)
	add := func(f func(*settings.Settings)) { all = append(all, f) }
	programs := []string{}
	options := false
	for section := range s.Children() {
		options = options || section == "options"
		for name := range s.Children() {
			switch {
			case section == "log_flags":
				on := s.Flag()
				if slices.Contains(logflag.Effective, name) || slices.Contains(logflag.Idle, name) && on {
					add(func(o *settings.Settings) { o.LogFlags[name] = on })
				}
			case section != "options":
			case name == "exclusive_app":
				programs = append(programs, s.Text())
			case name == "device_name":
				text := s.Text()
				add(func(o *settings.Settings) { o.DeviceName = text })
			case name == "ncpus", name == "max_file_xfers", name == "max_file_xfers_per_project":
				var n int64
				s.Int(&n)
				add(func(o *settings.Settings) { *number(o, name) = max(0, int(n)) })
			case name == "allow_multiple_clients", name == "no_priority_change", name == "report_results_immediately":
				on := s.Flag()
				add(func(o *settings.Settings) { *flagOf(o, name) = on })
			}
		}
	}
	return func(o *settings.Settings) {
		for _, f := range all {
			f(o)
		}
		if options { // none there means none
			o.ExclusiveApps = programs
		}
	}, s.Err()
}

func number(o *settings.Settings, name string) *int {
	switch name {
	case "max_file_xfers":
		return &o.MaxFileXfers
	case "max_file_xfers_per_project":
		return &o.MaxFileXfersPerProject
	}
	return &o.NCPUs
}

func flagOf(o *settings.Settings, name string) *bool {
	switch name {
	case "allow_multiple_clients":
		return &o.AllowMultipleClients
	case "no_priority_change":
		return &o.NoPriorityChange
	}
	return &o.ReportResultsImmediately
}
