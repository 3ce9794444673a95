package boincconfig

import (
	"slices"
	"strings"

	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/protocol/bxml"
)

// WriteApps shows the limits of a project and its applications as an app_config.xml.
func WriteApps(w *bxml.Writer, acc settings.Account) {
	w.Open("app_config")
	for _, a := range acc.Apps {
		w.Open("app")
		w.Text("name", a.Name)
		w.Int("max_concurrent", int64(a.MaxConcurrent))
		w.Flag("report_results_immediately", a.ReportImmediately)
		if a.GPUUsage > 0 || a.CPUUsage > 0 {
			w.Open("gpu_versions")
			w.Float("gpu_usage", a.GPUUsage)
			w.Float("cpu_usage", a.CPUUsage)
			w.Close("gpu_versions")
		}
		w.Close("app")
		if a.AvgNCPUs > 0 || a.Cmdline != "" {
			w.Open("app_version")
			w.Text("app_name", a.Name)
			w.Float("avg_ncpus", a.AvgNCPUs)
			w.TextIf("cmdline", a.Cmdline)
			w.Close("app_version")
		}
	}
	if acc.MaxConcurrent > 0 {
		w.Int("project_max_concurrent", int64(acc.MaxConcurrent))
	}
	w.Close("app_config")
}

// Limits has the limits from an app_config.xml for a project and its applications.
type Limits struct {
	MaxConcurrent int // how many of the project's tasks run at the same time (0: no limit)
	Apps          []settings.App
	// Unused are the elements without an equivalent here, each once and in order, unless they are
	// without effect.
	Unused []string
}

// ParseApps reads an app_config.xml.
func ParseApps(src []byte) (Limits, error) {
	l := Limits{Apps: []settings.App{}}
	s := bxml.NewScanner(src)
	err := s.Decode("app_config", func(x bxml.Codec) {
		whole(x, "project_max_concurrent", &l.MaxConcurrent)
		if x.Reading("app") != nil {
			l.app(s)
		}
		if x.Reading("app_version") != nil {
			l.version(s)
		}
		l.unused(s)
	})
	slices.Sort(l.Unused)
	l.Unused = slices.Compact(l.Unused)
	return l, err
}

func whole(x bxml.Codec, name string, n *int) {
	v := int64(*n)
	x.Int(name, &v)
	*n = int(v)
}

// of returns the settings for an application, to be changed.
func (l *Limits) of(name string) *settings.App {
	for i := range l.Apps {
		if l.Apps[i].Name == name {
			return &l.Apps[i]
		}
	}
	l.Apps = append(l.Apps, settings.App{Name: name})
	return &l.Apps[len(l.Apps)-1]
}

// unused remembers an element that was not read, unless it means the same as its absence.
func (l *Limits) unused(s *bxml.Scanner) {
	if s.Used() {
		return
	}
	name, text := s.Name(), s.Text()
	if name == "plan_class" && text == "" || text != "" && strings.Trim(text, "0.") == "" {
		return
	}
	l.Unused = append(l.Unused, name)
}

func (l *Limits) app(s *bxml.Scanner) {
	var x settings.App
	s.Fields(func(e bxml.Codec) {
		e.Text("name", &x.Name)
		whole(e, "max_concurrent", &x.MaxConcurrent)
		e.Flag("report_results_immediately", &x.ReportImmediately)
		e.Element("gpu_versions", func(e bxml.Codec) {
			e.Float("gpu_usage", &x.GPUUsage)
			e.Float("cpu_usage", &x.CPUUsage)
			l.unused(s)
		})
		l.unused(s)
	})
	a := l.of(x.Name)
	a.MaxConcurrent, a.ReportImmediately = x.MaxConcurrent, x.ReportImmediately
	a.GPUUsage, a.CPUUsage = x.GPUUsage, x.CPUUsage
}

func (l *Limits) version(s *bxml.Scanner) {
	var x settings.App
	s.Fields(func(e bxml.Codec) {
		e.Text("app_name", &x.Name)
		e.Float("avg_ncpus", &x.AvgNCPUs)
		e.Text("cmdline", &x.Cmdline)
		l.unused(s)
	})
	a := l.of(x.Name)
	a.AvgNCPUs, a.Cmdline = x.AvgNCPUs, x.Cmdline
}
