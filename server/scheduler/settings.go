package scheduler

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/match"
	"github.com/starling-grid/starling/server/setting"
)

// Settings are the settings for sending work. 0 disables a limit.
type Settings struct {
	match.Rules
	MinCoreVersion      string          `toml:"min_core_version"`
	MinSendworkInterval setting.Seconds `toml:"min_sendwork_interval"`
	NextRPCDelay        setting.Seconds `toml:"next_rpc_delay"`
	MaxInfeasible       int             `toml:"max_infeasible"`
	MaxHostsPerUserDay  int             `toml:"max_hosts_per_user_day"`
	ResendLostResults   bool            `toml:"resend_lost_results"`
	SendResultAbort     bool            `toml:"send_result_abort"`
}

// Keys describes the settings except Urgent.
func (s *Settings) Keys() []setting.Key {
	return append(s.Rules.Keys(),
		setting.Of(&s.MinCoreVersion, "",
			`The oldest version of BOINC's client that gets work, such as "7.4.22". "" accepts all. Starling's agent
			counts as the version of BOINC that it is compatible with.`).
			Checked(setting.Parsed(&s.MinCoreVersion, CoreVersion)),
		setting.Number(&s.MinSendworkInterval, 6, 86400,
			`Minimum number of seconds between two requests of a computer that bring work.`),
		setting.Number(&s.NextRPCDelay, 0, 14*86400,
			`Seconds after which clients contact the project again even without a reason. 0: the server decides. It
			calls computers that got nothing back after half a minute at first, and later the longer there has been no work,
			at most ten a second. Set this only if idle computers must always ask after the same time, since
			each costs a request each time.`),
		setting.Number(&s.MaxInfeasible, 0, 1e6,
			`A workunit is given up when computers of this many accounts, which asked within the last 7 days, have too
			little memory, disk or bandwidth for it. 0: never. Only accounts with credit count, and computers for which
			the application has a version. starling-server status shows such work, and work retry revives it.`),
		setting.Number(&s.MaxHostsPerUserDay, 500, 1e5,
			`Computers added to one account each day.`),
		setting.Of(&s.ResendLostResults, true,
			`Whether a computer that lost a result, or never received it, gets it again.`),
		setting.Of(&s.SendResultAbort, true,
			`Whether computers are ordered to abort unneeded results.`),
	)
}

// CoreVersion parses a client's version, MAJOR.MINOR[.RELEASE]. The empty string is the zero
// version.
func CoreVersion(s string) (v protocol.Version, err error) {
	if s == "" {
		return v, nil
	}
	parts := strings.Split(s, ".")
	into := []*int{&v.Major, &v.Minor, &v.Release}
	if len(parts) < 2 || len(parts) > len(into) {
		return v, fmt.Errorf("%q is not a version, want MAJOR.MINOR.RELEASE", s)
	}
	for i, p := range parts {
		n, err := strconv.Atoi(p)
		if err != nil || n < 0 || n > 99 {
			return v, fmt.Errorf("%q is not a version, want MAJOR.MINOR.RELEASE", s)
		}
		*into[i] = n
	}
	return v, nil
}
