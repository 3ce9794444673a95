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
	if err := s.Find("app_config"); err != nil {
		return l, err
	}
	for name := range s.Children() {
		switch name {
		case "project_max_concurrent":
			whole(s, &l.MaxConcurrent)
		case "app":
			l.app(s)
		case "app_version":
			l.version(s)
		default:
			l.unused(s, name)
		}
	}
	slices.Sort(l.Unused)
	l.Unused = slices.Compact(l.Unused)
	return l, s.Err()
}

func whole(s *bxml.Scanner, n *int) {
	v := int64(*n)
	s.Int(&v)
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

// unused remembers an element without an equivalent, unless it means the same as its absence.
func (l *Limits) unused(s *bxml.Scanner, name string) {
	text := s.Text()
	if name == "plan_class" && text == "" || text != "" && strings.Trim(text, "0.") == "" {
		return
	}
	l.Unused = append(l.Unused, name)
}

func (l *Limits) app(s *bxml.Scanner) {
	var x settings.App
	for name := range s.Children() {
		switch name {
		case "name":
			x.Name = s.Text()
		case "max_concurrent":
			whole(s, &x.MaxConcurrent)
		case "report_results_immediately":
			x.ReportImmediately = s.Flag()
		case "gpu_versions":
			for name := range s.Children() {
				switch name {
				case "gpu_usage":
					s.Float(&x.GPUUsage)
				case "cpu_usage":
					s.Float(&x.CPUUsage)
				default:
					l.unused(s, name)
				}
			}
		default:
			l.unused(s, name)
		}
	}
	a := l.of(x.Name)
	a.MaxConcurrent, a.ReportImmediately = x.MaxConcurrent, x.ReportImmediately
	a.GPUUsage, a.CPUUsage = x.GPUUsage, x.CPUUsage
}

func (l *Limits) version(s *bxml.Scanner) {
	var x settings.App
	for name := range s.Children() {
		switch name {
		case "app_name":
			x.Name = s.Text()
		case "avg_ncpus":
			s.Float(&x.AvgNCPUs)
		case "cmdline":
			x.Cmdline = s.Text()
		default:
			l.unused(s, name)
		}
	}
	a := l.of(x.Name)
	a.AvgNCPUs, a.Cmdline = x.AvgNCPUs, x.Cmdline
}
