package guirpc

import (
	"github.com/starling-grid/starling/agent/boincconfig"
	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/agent/view"
	"github.com/starling-grid/starling/internal/httpclient"
	"github.com/starling-grid/starling/internal/sysfault"
	"github.com/starling-grid/starling/protocol/bxml"
)

func writeProxy(w *bxml.Writer, v view.Tools) { boincconfig.WriteProxy(w, v.Settings) }

// setProxy makes the agent use the proxy that a tool names, from now on.
func (r *request) setProxy() string {
	src, ok := r.block("proxy_info")
	if !ok {
		return errorText("Missing proxy_info")
	}
	proxy, except, err := boincconfig.ParseProxy([]byte("<proxy_info>" + src + "</proxy_info>"))
	if err != nil {
		return errorText(sysfault.Plain(err))
	}
	if err := httpclient.CheckProxy(proxy); err != nil {
		return errorText(sysfault.Plain(err))
	}
	err = r.srv.Agent.ChangeSettings(r.ctx, func(o *settings.Settings) { o.Proxy, o.NoProxy = proxy, except })
	if err == nil {
		err = r.srv.Agent.ReloadSettings(r.ctx)
	}
	return outcome(err)
}
