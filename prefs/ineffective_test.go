package prefs_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/starling-grid/starling/prefs"
)

func TestPreferencesWithoutEffectAreSaid(t *testing.T) {
	all := prefs.Conditions{IdleKnown: true, Temperature: 50, Metered: prefs.No}
	nothing := prefs.Conditions{}
	terminals := all // with a desktop that does not report its input
	terminals.Unseen = true
	for _, tt := range []struct {
		name   string
		change func(*prefs.Prefs)
		c      prefs.Conditions
		want   string // the key, "" for none
	}{
		{"the defaults where all can be sensed", func(*prefs.Prefs) {}, all, ""},
		{"the defaults where nothing can", func(*prefs.Prefs) {}, nothing, ""},
		{"a temperature without a sensor", func(p *prefs.Prefs) { p.TemperatureCeiling = 70 }, nothing, "max_cpu_temperature"},
		{"a temperature with a sensor", func(p *prefs.Prefs) { p.TemperatureCeiling = 70 }, all, ""},
		{"unmetered networks only, where that is not known", func(p *prefs.Prefs) { p.NetworkWifiOnly = true }, nothing, "network_wifi_only"},
		{"unmetered networks only", func(p *prefs.Prefs) { p.NetworkWifiOnly = true }, all, ""},
		{"no CPU time at all", func(p *prefs.Prefs) { p.CPUUsageLimit, p.NiuCPUUsageLimit = 0, 0 }, all, "cpu_usage_limit"},
		{"no CPU time while idle", func(p *prefs.Prefs) { p.NiuCPUUsageLimit = 0 }, all, "niu_cpu_usage_limit"},
		{"no memory while idle", func(p *prefs.Prefs) { p.RAMMaxUsedIdlePct = 0 }, all, "ram_max_used_idle_pct"},
		{"no CPUs", func(p *prefs.Prefs) { p.MaxNCPUsPct, p.NiuMaxNCPUsPct = 0, 0 }, all, "max_ncpus_pct"},
		{"no CPUs while idle", func(p *prefs.Prefs) { p.NiuMaxNCPUsPct = 0 }, all, "niu_max_ncpus_pct"},
		{"from eight to eight", func(p *prefs.Prefs) { p.StartHour, p.EndHour = 8, 8 }, all, "start_hour"},
		{"on the network from eight to eight", func(p *prefs.Prefs) { p.NetStartHour, p.NetEndHour = 8, 8 }, all, "net_start_hour"},
		{"not while in use, which is not known", func(p *prefs.Prefs) { p.RunIfUserActive = false }, nothing, "run_if_user_active"},
		{"not while in use", func(p *prefs.Prefs) { p.RunIfUserActive = false }, all, ""},
		{"not while in use, which a desktop does not tell", func(p *prefs.Prefs) { p.RunIfUserActive = false }, terminals, "run_if_user_active"},
		{"only after input, which a desktop does not tell", func(p *prefs.Prefs) { p.SuspendIfNoRecentInput = 60 }, terminals, "suspend_if_no_recent_input"},
		{"the defaults where a desktop does not tell", func(*prefs.Prefs) {}, terminals, "idle_time_to_run"},
		{"only after input, which is not known", func(p *prefs.Prefs) { p.SuspendIfNoRecentInput = 60 }, nothing, "suspend_if_no_recent_input"},
	} {
		p := prefs.Default()
		tt.change(&p)
		got := p.Ineffective(tt.c)
		switch {
		case tt.want == "" && len(got) > 0:
			t.Errorf("%s: got %+v", tt.name, got)
		case tt.want != "" && (len(got) != 1 || got[0].Key != tt.want || !strings.HasPrefix(got[0].Text.String(), tt.want+" has no effect: ")):
			t.Errorf("%s: got %+v, want %s", tt.name, got, tt.want)
		}
		for _, x := range got { // a constant one must be reported before the sensors are known, too
			same := func(y prefs.Ineffective) bool { return y.Text.String() == x.Text.String() }
			if said := slices.ContainsFunc(p.Ineffective(prefs.Conditions{}), same) && slices.ContainsFunc(p.Ineffective(all), same); said != x.Constant {
				t.Errorf("%s: said whatever is sensed: %t, constant: %t", tt.name, said, x.Constant)
			}
		}
	}
}
