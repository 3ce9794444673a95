package guirpc

import (
	"errors"

	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/agent/view"
	"github.com/starling-grid/starling/protocol/bxml"
)

func writeAppConfig(w *bxml.Writer, p view.ToolsProject) {
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
	if p.Account.MaxConcurrent > 0 {
		w.Int("project_max_concurrent", int64(p.Account.MaxConcurrent))
	}
	w.Close("app_config")
}

func (r *request) appConfig() string {
	v, err := r.srv.Agent.Tools(r.ctx)
	if err != nil {
		return errorText(err.Error())
	}
	for _, p := range v.Projects {
		if p.MasterURL == r.url("url") {
			var w bxml.Writer
			writeAppConfig(&w, p)
			return string(w.Bytes())
		}
	}
	return errorText("no such project")
}

// setAppConfig takes an app_config as what tools changed of the account: what it
// does not name it does not limit.
func (r *request) setAppConfig() string {
	src, ok := r.block("app_config")
	if !ok {
		return errorText("XML parse failed")
	}
	most, apps, err := parseAppConfig(src)
	if err != nil {
		return errorText(err.Error())
	}
	err = r.srv.Agent.ChangeAccount(r.ctx, r.url("url"), func(o *settings.Override) { o.MaxConcurrent, o.Apps = &most, apps })
	if errors.Is(err, settings.ErrNotAttached) {
		return errorText("no such project") // as these two calls spell it
	}
	return outcome(err)
}

func parseAppConfig(src string) (most int, apps []settings.App, err error) {
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
	s := bxml.NewScanner([]byte("<app_config>" + src + "</app_config>"))
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
