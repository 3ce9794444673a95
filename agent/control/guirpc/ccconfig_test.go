package guirpc_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/starling-grid/starling/agent/settings"
)

// options wraps a cc_config with these options as a tool sends it.
func options(text string) string {
	return "<set_cc_config>\n<cc_config>\n<options>\n" + text + "\n</options>\n</cc_config>\n</set_cc_config>"
}

// BOINC Manager sends back everything that it was shown. An unchanged element changes nothing, and
// an entry that is missing from a list is removed from it.
func TestConfigOfCoprocessors(t *testing.T) {
	const own = "[[coproc]]\ntype = \"mine\"\ncount = 1\npeak_flops = 5e9\n\n[[coproc]]\ntype = \"pocl\"\nopencl = \"pthread\"\n\n[[ignore_gpu]]\ntype = \"NVIDIA\"\n"
	p, dir := newDesk(t, own)
	shown := p.call("<get_cc_config/>")
	_, inner, _ := strings.Cut(shown, "<cc_config>")
	inner, _, ok := strings.Cut(inner, "</cc_config>")
	if !ok {
		t.Fatal(shown)
	}
	override := func() string {
		t.Helper()
		files, _ := filepath.Glob(filepath.Join(dir, settings.OverrideFile))
		more, _ := filepath.Glob(filepath.Join(dir, settings.AccountsDir, "*.override.toml"))
		text := ""
		for _, name := range append(files, more...) {
			name, _ = filepath.Rel(dir, name)
			text += file(t, dir, name)
		}
		return text
	}
	send := func(what, call string) {
		t.Helper()
		if got := p.call(call); got != reply("<success/>") {
			t.Fatalf("%s: %s", what, got)
		}
	}
	send("as it was shown", "<set_cc_config>\n<cc_config>"+inner+"</cc_config>\n</set_cc_config>")
	if got := override(); got != "" {
		t.Errorf("what was sent back as it was shown changes\n%s", got)
	}

	const devices = "<coproc><type>theirs</type><count>2</count><device_nums>0 3</device_nums></coproc><ignore_ati_dev>1</ignore_ati_dev><no_gpus>1</no_gpus>" +
		"<exclude_gpu><url>" + projectURL + "</url><type>theirs</type><device_num>3</device_num></exclude_gpu>" +
		"<exclude_gpu><url>https://elsewhere.example/</url></exclude_gpu><start_delay>60</start_delay>"
	send("a change", options(devices))
	s, err := settings.Load(dir)
	if err != nil || len(s.Coprocs) != 2 || s.Coprocs[0].OpenCL != "pthread" || s.Coprocs[1].Type != "theirs" || s.Coprocs[1].PeakFlops != 0 || len(s.IgnoreGPUs) != 1 || s.IgnoreGPUs[0].Type != "ATI" || !s.NoGPUs {
		t.Errorf("got %+v, %v", s, err)
	}
	contains(t, "the account", override(), "[[exclude_gpu]]", `type = "theirs"`, "device_nums = [3]")
	contains(t, "what it is shown then", p.call("<get_cc_config/>"), "<type>theirs</type>", "<device_nums>0 3</device_nums>", "<ignore_ati_dev>1</ignore_ati_dev>", "<url>"+projectURL+"</url>")

	send("nothing of it", options("<ncpus>2</ncpus>"))
	if s, err = settings.Load(dir); err != nil || len(s.Coprocs) != 1 || s.Coprocs[0].OpenCL != "pthread" || len(s.IgnoreGPUs) != 0 || s.NCPUs != 2 {
		t.Errorf("got %+v, %v", s, err)
	}
	if strings.Contains(override(), "[[exclude_gpu]]") {
		t.Errorf("it is still excluded: %s", override())
	}
	send("flags alone", "<set_cc_config>\n<cc_config>\n<log_flags>\n<task_debug>1</task_debug>\n</log_flags>\n</cc_config>\n</set_cc_config>")
	if s, err = settings.Load(dir); err != nil || s.NCPUs != 2 || !s.LogFlags["task_debug"] {
		t.Errorf("got %+v, %v", s, err)
	}
	contains(t, "two of a type", p.call(options("<coproc><type>x</type><count>1</count></coproc><coproc><type>x</type><count>1</count></coproc>")), "<error>", "declared twice")
}
