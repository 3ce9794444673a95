package waiting

import "github.com/starling-grid/starling/server/setting"

// Settings are the settings for hosts that wait.
type Settings struct {
	MaxWaitingHosts int `toml:"max_waiting_hosts"` // 0: none may wait
}

// Keys describes the settings.
func (s *Settings) Keys() []setting.Key {
	return []setting.Key{
		setting.Number(&s.MaxWaitingHosts, 10000, 1e6,
			`Idle computers that may each keep a connection on which the project announces new work within
			seconds. 0: none. Starling's agent uses this, BOINC's clients do not. One address may have half of
			max_connections_per_address. Ten thousand computers take some 20 MB of memory, and as many open files
			(LimitNOFILE).`),
	}
}
