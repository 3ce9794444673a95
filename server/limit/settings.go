package limit

import "github.com/starling-grid/starling/server/setting"

// Settings are the settings for the protection against strangers. 0 disables a limit.
type Settings struct {
	// TrustedProxies is nil if the file does not set it.
	TrustedProxies           []string `toml:"trusted_proxies"`
	ForwardedHeader          string   `toml:"forwarded_header"`
	MaxConnectionsPerAddress int      `toml:"max_connections_per_address"`
	MaxRequestsPerAddress    int      `toml:"max_requests_per_address"`
}

// Keys describes the settings.
func (s *Settings) Keys() []setting.Key {
	return []setting.Key{
		setting.Of(&s.TrustedProxies, nil,
			`Proxies in front of the server, by address or network. They are trusted to name the sender of a
			request. If yours is not in this list, the limits below treat all volunteers as one address. If this
			is not set, it is this computer if master_url starts with https and tls is false.`).
			Checked(setting.Parsed(&s.TrustedProxies, ParseProxies)),
		setting.Of(&s.ForwardedHeader, XForwardedFor,
			`The header in which these proxies name the sender: "X-Forwarded-For", or "Forwarded" (RFC 7239). The
			other one is ignored, since proxies forward it as a client sent it.`).
			Checked(setting.OneOf(&s.ForwardedHeader, XForwardedFor, Forwarded)),
		setting.Number(&s.MaxConnectionsPerAddress, 250, 1e6,
			`Connections that one address may have open at a time. Further ones are closed.`),
		setting.Number(&s.MaxRequestsPerAddress, 100, 1e6,
			`Requests from one address that are answered at a time.`),
	}
}
