package guirpc

import (
	"slices"

	"github.com/starling-grid/starling/agent/boincconfig"
	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/agent/view"
	"github.com/starling-grid/starling/internal/sysfault"
	"github.com/starling-grid/starling/protocol/bxml"
)

// writeConfig shows the settings in force.
func writeConfig(w *bxml.Writer, v view.Tools) {
	var accounts []settings.Account
	for _, p := range v.Projects {
		accounts = append(accounts, p.Account)
	}
	boincconfig.Write(w, v.Settings, accounts)
}

// setConfig writes down what a cc_config changes of the settings: those that have a
// name here. What it does not say stays; an empty call takes back all that tools
// changed.
func (r *request) setConfig() string {
	src, ok := r.block("cc_config")
	if !ok {
		return outcome(r.srv.Agent.ChangeSettings(r.ctx, nil))
	}
	c, err := boincconfig.Parse([]byte("<cc_config>" + src + "</cc_config>"))
	if err != nil {
		return errorText(sysfault.Plain(err))
	}
	// Tools send back what they have been shown a while ago, and set the proxy by a call of
	// its own.
	c.Changes = slices.DeleteFunc(c.Changes, func(x boincconfig.Change) bool { return x.Element == "proxy_info" })
	return outcome(r.srv.Agent.ChangeSettings(r.ctx, c.Apply))
}
