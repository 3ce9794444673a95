package guirpc

import (
	"errors"

	"github.com/starling-grid/starling/agent/boincconfig"
	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/internal/sysfault"
	"github.com/starling-grid/starling/protocol/bxml"
)

func (r *request) appConfig() string {
	v, err := r.srv.Agent.Tools(r.ctx)
	if err != nil {
		return errorText(sysfault.Plain(err))
	}
	for _, p := range v.Projects {
		if p.MasterURL == r.url("url") {
			var w bxml.Writer
			if p.Account.MaxConcurrent == 0 && len(p.Account.Apps) == 0 {
				w.Text("error", "app_config.xml not found")
			} else {
				boincconfig.WriteApps(&w, p.Account)
			}
			return string(w.Bytes())
		}
	}
	return errorText("no such project")
}

// setAppConfig adopts an app_config as the tools' changes to the account. Anything that it does not
// name is not limited.
func (r *request) setAppConfig() string {
	src, ok := r.block("app_config")
	if !ok {
		return errorText("XML parse failed")
	}
	l, err := boincconfig.ParseApps([]byte("<app_config>" + src + "</app_config>"))
	if err != nil {
		return errorText(sysfault.Plain(err))
	}
	err = r.srv.Agent.ChangeAccount(r.ctx, r.url("url"), func(o *settings.Override) { o.MaxConcurrent, o.Apps = &l.MaxConcurrent, l.Apps })
	if errors.Is(err, settings.ErrNotAttached) {
		return errorText("no such project") // as these two calls spell it
	}
	return outcome(err)
}
