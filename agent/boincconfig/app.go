package boincconfig

import (
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

// ParseApps returns what an app_config.xml says: how many tasks of the project run at
// the same time, 0 for no limit, and its applications.
func ParseApps(src []byte) (most int, apps []settings.App, err error) {
	apps = []settings.App{}
	app := func(name string) *settings.App {
		for i := range apps {
			if apps[i].Name == name {
				return &apps[i]
			}
		}
		apps = append(apps, settings.App{Name: name})
		return &apps[len(apps)-1]
	}
	s := bxml.NewScanner(src)
	if err := s.Find("app_config"); err != nil {
		return 0, nil, err
	}
	number := func(n *int) {
		v := int64(*n)
		s.Int(&v)
		*n = int(v)
	}
	for name := range s.Children() {
		var x settings.App
		switch name {
		case "project_max_concurrent":
			number(&most)
		case "app":
			for name := range s.Children() {
				switch name {
				case "name":
					x.Name = s.Text()
				case "max_concurrent":
					number(&x.MaxConcurrent)
				case "report_results_immediately":
					x.ReportImmediately = s.Flag()
				case "gpu_versions":
					for name := range s.Children() {
						switch name {
						case "gpu_usage":
							s.Float(&x.GPUUsage)
						case "cpu_usage":
							s.Float(&x.CPUUsage)
						}
					}
				}
			}
			a := app(x.Name)
			a.MaxConcurrent, a.ReportImmediately = x.MaxConcurrent, x.ReportImmediately
			a.GPUUsage, a.CPUUsage = x.GPUUsage, x.CPUUsage
		case "app_version":
			for name := range s.Children() {
				switch name {
				case "app_name":
					x.Name = s.Text()
				case "avg_ncpus":
					s.Float(&x.AvgNCPUs)
				case "cmdline":
					x.Cmdline = s.Text()
				}
			}
			a := app(x.Name)
			a.AvgNCPUs, a.Cmdline = x.AvgNCPUs, x.Cmdline
		}
	}
	return most, apps, s.Err()
}
