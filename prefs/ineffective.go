package prefs

import "github.com/starling-grid/starling/internal/words"

// An Ineffective is a preference that is set and does nothing on this computer.
type Ineffective struct {
	Key  string     `json:"key"`
	Text words.Text `json:"text"` // for people: the reason and the cure
	// Constant: it is so whatever can be sensed of the computer.
	Constant bool `json:"constant,omitempty"`
}

// SeeDesktop is the cure where a desktop does not report its use.
const SeeDesktop = "log out and in again, which starts the helper of the package in most desktops, or start it in your session with: starling session. " +
	"Or set the hours of computing (start_hour, end_hour), or use: starling mode never --for 2h"

// Ineffective returns the preferences that are set and have no effect, given the sensors of the
// computer. Otherwise a person would trust a limit that protects nothing.
func (p Prefs) Ineffective(c Conditions) []Ineffective {
	var all []Ineffective
	add := func(key string, why words.Text) {
		all = append(all, Ineffective{Key: key, Text: words.T("{key} has no effect: {why}", "key", key, "why", why)})
	}
	always := func(key string, why words.Text) { add(key, why); all[len(all)-1].Constant = true }
	if p.TemperatureCeiling > 0 && c.Temperature == 0 {
		add("max_cpu_temperature", words.T("no sensor of this computer reports the CPU's temperature. You can: limit the heat with max_ncpus_pct or cpu_usage_limit."))
	}
	if p.GPUTemperatureCeiling > 0 && c.GPUTemperature == 0 {
		add("max_gpu_temperature", words.T("no sensor reports the temperature of a GPU that tasks use. You can: keep tasks off GPUs with: starling mode never --gpu"))
	}
	if p.NetworkWifiOnly && c.Metered == Unknown {
		add("network_wifi_only", words.T("this computer cannot tell whether its network is metered. You can: set the hours of network use (net_start_hour, net_end_hour), or turn it off with: starling mode never --network"))
	}
	zero := words.T("0 stands for no limit, as with BOINC's client. You can: suspend computing with: starling mode never")
	switch { // the second follows the first where it is not set
	case p.CPUUsageLimit == 0:
		always("cpu_usage_limit", zero)
	case p.NiuCPUUsageLimit == 0:
		always("niu_cpu_usage_limit", zero)
	}
	switch {
	case p.MaxNCPUsPct == 0:
		always("max_ncpus_pct", zero)
	case p.NiuMaxNCPUsPct == 0:
		always("niu_max_ncpus_pct", zero)
	}
	if p.RAMMaxUsedBusyPct == 0 {
		always("ram_max_used_busy_pct", zero)
	}
	if p.RAMMaxUsedIdlePct == 0 {
		always("ram_max_used_idle_pct", zero)
	}
	equal := func(from, to string, hour float64, flag string) {
		always(from, words.T("it equals {key} ({hour}), which stands for the whole day. You can: set {key} to another hour, or use: {command}",
			"key", to, "hour", words.Float(hour), "command", "starling mode never"+flag))
	}
	if p.StartHour == p.EndHour && p.StartHour != 0 {
		equal("start_hour", "end_hour", p.StartHour, "")
	}
	if p.NetStartHour == p.NetEndHour && p.NetStartHour != 0 {
		equal("net_start_hour", "net_end_hour", p.NetStartHour, " --network")
	}
	if c.Unseen {
		key := "idle_time_to_run"
		switch {
		case !p.RunIfUserActive:
			key = "run_if_user_active"
		case p.SuspendIfNoRecentInput > 0:
			key = "suspend_if_no_recent_input"
		}
		add(key, words.T("the desktop does not tell the agent when you use the computer, so it counts as not in use. You can: {cure}", "cure", words.T(SeeDesktop)))
	} else if !c.IdleKnown {
		why := words.T("this computer cannot tell whether you are using it.")
		switch {
		case !p.RunIfUserActive:
			add("run_if_user_active", words.And(why, words.T("You can: set the hours of computing (start_hour, end_hour), or use: starling mode never --for 2h")))
		case p.SuspendIfNoRecentInput > 0:
			add("suspend_if_no_recent_input", why)
		}
	}
	return all
}
