package guirpc

import (
	"bytes"
	"maps"
	"reflect"
	"slices"
	"strings"

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

// setConfig saves the changes in a cc_config to the settings and accounts, as far as these exist
// here. Missing lists count as empty, missing single values stay, and an empty call removes all
// changes by tools. Tools send back everything that they were shown, so an unchanged element
// changes nothing. Options without effect here are logged.
func (r *request) setConfig() string {
	src, ok := r.block("cc_config")
	if !ok {
		return outcome(r.srv.Agent.ChangeSettings(r.ctx, nil))
	}
	c, err := boincconfig.Parse([]byte("<cc_config>" + src + "</cc_config>"))
	if err != nil {
		return errorText(sysfault.Plain(err))
	}
	err = r.srv.Agent.ChangeSettings(r.ctx, func(o *settings.Settings) {
		for _, change := range c.Changes {
			with := *o
			with.LogFlags = maps.Clone(o.LogFlags)
			change.Apply(&with)
			// The proxy that was shown to tools may be an old one. They set it by a separate call.
			if change.Element != "proxy_info" && !bytes.Equal(shown(with, nil), shown(*o, nil)) {
				*o = with
			}
		}
	})
	if err == nil && c.Options {
		err = r.exclude(&c)
	}
	if len(c.Unused) > 0 {
		r.srv.Log.Warn("options set by a tool have no effect here", "options", strings.Join(c.Unused, ", "))
	}
	return outcome(err)
}

// shown returns settings and accounts in the form that tools see.
func shown(s settings.Settings, accounts []settings.Account) []byte {
	var w bxml.Writer
	boincconfig.Write(&w, s, accounts)
	return w.Bytes()
}

// exclude changes the coprocessors that projects' tasks may not use, where that differs from the
// values shown to the tool. An entry for a project that is not attached has no effect.
func (r *request) exclude(c *boincconfig.Config) error {
	v, err := r.srv.Agent.Tools(r.ctx)
	if err != nil {
		return err
	}
	left := maps.Clone(c.ExcludeGPUs)
	for _, p := range v.Projects {
		u := p.Account.MasterURL
		delete(left, u)
		now, err := boincconfig.Parse(shown(settings.Settings{}, []settings.Account{p.Account}))
		if err != nil || reflect.DeepEqual(now.ExcludeGPUs[u], c.ExcludeGPUs[u]) {
			continue
		}
		if err := r.srv.Agent.ChangeAccount(r.ctx, u, func(o *settings.Override) { o.ExcludeGPUs = c.ExcludeGPUs[u] }); err != nil {
			return err
		}
	}
	for _, u := range slices.Sorted(maps.Keys(left)) {
		r.srv.Log.Warn("exclude_gpu set by a tool has no effect: the project is not attached", "project", u)
	}
	return nil
}
