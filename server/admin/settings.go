package admin

import (
	"errors"

	"github.com/starling-grid/starling/server/limit"
	"github.com/starling-grid/starling/server/setting"
)

// Settings are the settings for the operator's address.
type Settings struct {
	AdminListen  string   `toml:"admin_listen"`
	MetricsAllow []string `toml:"metrics_allow"`
	MetricsToken string   `toml:"metrics_token"`
}

// Keys describes the settings.
func (s *Settings) Keys() []setting.Key {
	return []setting.Key{
		setting.Of(&s.AdminListen, "",
			`Where the server answers its operator: pages for a browser (starling-server admin prints a link), /metrics
			(for Prometheus), /healthz, /readyz and /debug/pprof/. For example 127.0.0.1:8081. "": nowhere. Each
			process of a project on one computer needs its own (serve --admin-listen). Do not make it public.`).
			Checked(setting.HostPort(&s.AdminListen)).Restarts().First(),
		setting.Of(&s.MetricsAllow, []string{"127.0.0.1", "::1"},
			`Addresses and networks that may read metrics and profiles at admin_listen.`).
			Checked(setting.Parsed(&s.MetricsAllow, limit.ParseProxies)),
		setting.Of(&s.MetricsToken, "",
			`A token that gives the same access to all addresses (Authorization: Bearer TOKEN). "": no token.`).Checked(func() error {
			if s.MetricsToken != "" && len(s.MetricsToken) < 16 {
				return errors.New("want at least 16 characters, or \"\" for none")
			}
			return nil
		}),
	}
}
