package guirpc_test

import (
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/prefs"
)

// The mode of GPUs is stored and returned.
func TestGPUMode(t *testing.T) {
	p, d := sitDown(t, "")
	contains(t, "at first", p.call("<get_cc_status/>"), "<gpu_suspend_reason>0<", "<gpu_mode>2<", "<gpu_mode_perm>2<", "<gpu_mode_delay>0.0")
	if got := p.call("<set_gpu_mode>\n<never/>\n<duration>0</duration>\n</set_gpu_mode>"); got != reply("<success/>") {
		t.Error(got)
	}
	contains(t, "never", p.call("<get_cc_status/>"), "<gpu_suspend_reason>4<", "<gpu_mode>3<", "<gpu_mode_perm>3<", "<task_suspend_reason>0<", "<task_mode>2<")
	if got := p.call("<set_gpu_mode>\n<always/>\n<duration>3600</duration>\n</set_gpu_mode>"); got != reply("<success/>") {
		t.Error(got)
	}
	contains(t, "always for an hour", p.call("<get_cc_status/>"), "<gpu_suspend_reason>0<", "<gpu_mode>1<", "<gpu_mode_perm>2<", "<gpu_mode_delay>3")
	if left := time.Until(d.host.GPUMode.Until); left < time.Minute || left > time.Hour || d.host.GPUMode.Kind != prefs.Always {
		t.Errorf("kept: %+v", d.host.GPUMode)
	}
	contains(t, "no mode", p.call("<set_gpu_mode>\n</set_gpu_mode>"), "<error>Missing mode</error>")
}

func TestLanguage(t *testing.T) {
	p, d := sitDown(t, "")
	for _, tt := range []struct{ language, want string }{{"de", "de"}, {"pt_BR", "pt-BR"}, {"", ""}} {
		if got := p.call("<set_language>\n<language>" + tt.language + "</language>\n</set_language>"); got != reply("<success/>") || d.host.Language != tt.want {
			t.Errorf("%q: %s, kept %q", tt.language, got, d.host.Language)
		}
	}
	for _, bad := range []string{"<language>de; q=1</language>", "<language>d</language>", "<other/>"} {
		contains(t, bad, p.call("<set_language>\n"+bad+"\n</set_language>"), "<error>no language found</error>")
	}
}

func TestHost(t *testing.T) {
	p, d := sitDown(t, "")
	set := func(inner string) string { return p.call("<set_host_info>\n" + inner + "\n</set_host_info>") }
	if got := set("<host_info>\n<product_name>Pi &amp; co</product_name>\n</host_info>"); got != reply("<success/>") || d.host.Product != "Pi & co" {
		t.Errorf("%s, kept %q", got, d.host.Product)
	}
	if got := set("<host_info>\n<domain_name>kitchen</domain_name>\n<os_name>Android</os_name>\n</host_info>"); got != reply("<success/>") || d.host.Product != "Pi & co" {
		t.Errorf("%s, kept %q", got, d.host.Product)
	}
	contains(t, "the override", file(t, d.dir, settings.OverrideFile), `device_name = "kitchen"`)
	contains(t, "none", set(""), "<error>Missing host_info</error>")
	contains(t, "too long", set("<host_info><product_name>"+strings.Repeat("x", 256)+"</product_name></host_info>"), "<error>host_info parse error</error>")
}

// BOINC's tools see the coprocessors with the properties from their drivers.
func TestHostWithCoprocessors(t *testing.T) {
	p, _ := sitDown(t, "")
	for _, call := range []string{"<get_host_info/>", "<get_state/>"} {
		contains(t, call, p.call(call), "<coprocs>", "<coproc_ati>", "<name>Radeon &lt;7&gt;</name>", "<count>2</count>", "<name>gfx1032</name>")
	}
}
