package boincexport

import (
	"path/filepath"

	"github.com/starling-grid/starling/agent/boincconfig"
	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/protocol/bxml"
)

// configuration returns people's settings of the agent and of its projects, as far as BOINC's
// client has the same setting with a different default.
func configuration(s settings.Settings, accounts []settings.Account) (files []file) {
	var w bxml.Writer
	boincconfig.Write(&w, s, accounts)
	text := string(w.Bytes())
	usual := settings.Default()
	if c, err := boincconfig.Parse(w.Bytes()); err == nil {
		c.Apply(&usual)
		if usual.TOML(settings.Default()) != "" || len(c.ExcludeGPUs) > 0 {
			files = append(files, file{"cc_config.xml", text})
		}
	}
	for _, acc := range accounts {
		if acc.MaxConcurrent == 0 && len(acc.Apps) == 0 {
			continue
		}
		var w bxml.Writer
		boincconfig.WriteApps(&w, acc)
		files = append(files, file{filepath.Join("projects", protocol.EscapeURL(acc.MasterURL), "app_config.xml"), string(w.Bytes())})
	}
	return files
}
