//go:build unix

package boincimport_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/starling-grid/starling/agent/boincimport"
	"github.com/starling-grid/starling/agent/settings"
)

const ccConfig = `<cc_config>
<log_flags><task_debug>1</task_debug><poll_debug>1</poll_debug></log_flags>
<options>
<ncpus>2</ncpus><max_file_xfers>200</max_file_xfers><start_delay>60</start_delay><http_transfer_timeout>300</http_transfer_timeout>
<coproc><type>miner_asic</type><count>1</count></coproc>
<proxy_info><http_server_name>file.example</http_server_name></proxy_info>
<exclude_gpu><url>` + url + `</url><device_num>0</device_num><type>NVIDIA</type></exclude_gpu>
</options>
</cc_config>
`

const appConfig = `<app_config>
<project_max_concurrent>3</project_max_concurrent>
<app><name>a</name><max_concurrent>2</max_concurrent><fraction_done_exact>1</fraction_done_exact></app>
</app_config>
`

// configured returns the data directory of a client with configuration files.
func configured(t *testing.T, state string) string {
	t.Helper()
	dir := folder(t, state)
	put(t, filepath.Join(dir, "cc_config.xml"), ccConfig)
	put(t, filepath.Join(dir, "projects/127.0.0.1_8090_proj/app_config.xml"), appConfig)
	return dir
}

func put(t *testing.T, path, text string) {
	t.Helper()
	must(t, os.WriteFile(path, []byte(text), 0o600))
}

// Configuration files are converted to the agent's, and options without an equivalent are named.
func TestImportOfConfiguration(t *testing.T) {
	to := t.TempDir()
	proxied := strings.Replace(onDevice("miner_asic"), "<project>", "<proxy_info><use_http_proxy/><http_server_name>manager.example</http_server_name><http_server_port>3128</http_server_port></proxy_info>\n<project>", 1)
	report, err := boincimport.Import(t.Context(), configured(t, proxied), to, nil)
	must(t, err)
	want := settings.Default()
	want.NCPUs, want.Coprocs = 2, []settings.Coproc{{Type: "miner_asic", Count: 1}}
	want.LogFlags["task_debug"] = true
	want.Proxy = "http://manager.example:3128" // the tools' goes before the file's
	if s, err := settings.Load(to); err != nil || !reflect.DeepEqual(s, want) {
		t.Errorf("settings %+v, %v; want %+v", s, err, want)
	}
	accounts, _, err := settings.LoadAccounts(to)
	if err != nil || len(accounts) != 1 {
		t.Fatal(accounts, err)
	}
	a := accounts[0]
	if a.MaxConcurrent != 3 || !reflect.DeepEqual(a.Apps, []settings.App{{Name: "a", MaxConcurrent: 2}}) ||
		!reflect.DeepEqual(a.ExcludeGPUs, []settings.ExcludeGPU{{Type: "NVIDIA", Devices: []int{0}}}) || !a.Suspended {
		t.Errorf("account %+v", a)
	}
	notes := strings.Join(report.Notes, "\n")
	for _, want := range []string{
		"max_file_xfers was not imported: max_file_xfers: 200 is not between 1 and 100",
		"cc_config.xml: poll_debug, start_delay have no effect here and were not imported",
		"projects/127.0.0.1_8090_proj/app_config.xml: fraction_done_exact has no effect here and was not imported",
	} {
		if !strings.Contains(notes, want) {
			t.Errorf("no note %q in:\n%s", want, notes)
		}
	}
	if strings.Contains(notes, "[[coproc]]") {
		t.Errorf("a note asks for a coprocessor that is declared:\n%s", notes)
	}
}

// A volunteer's own starling.toml is left alone, and what BOINC had otherwise is named.
func TestImportKeepsSettings(t *testing.T) {
	to := t.TempDir()
	const own = "ncpus = 2\ngui_rpc_port = 0\n"
	put(t, filepath.Join(to, settings.File), own)
	report, err := boincimport.Import(t.Context(), configured(t, clientState), to, nil)
	must(t, err)
	if b, err := os.ReadFile(filepath.Join(to, settings.File)); err != nil || string(b) != own {
		t.Errorf("%q, %v; want it as it was", b, err)
	}
	notes := strings.Join(report.Notes, "\n")
	if want := "\nproxy = \"http://file.example\"\n\n[[coproc]]\ncount = 1\ntype = \"miner_asic\"\n\n[log_flags]\ntask_debug = true\n\nYou can: set them in " + filepath.Join(to, settings.File); !strings.Contains(notes, want) {
		t.Errorf("no %q in:\n%s", want, notes)
	}
	if strings.Contains(notes, "ncpus") {
		t.Errorf("a line that is there is asked for:\n%s", notes)
	}
}

// Files with errors stop no import.
func TestImportWithTornConfiguration(t *testing.T) {
	from, to := configured(t, clientState), t.TempDir()
	put(t, filepath.Join(from, "cc_config.xml"), "<cc_config><options><ncpus>2</ncpus>")
	put(t, filepath.Join(from, "projects/127.0.0.1_8090_proj/app_config.xml"), "<app_config><app><max_concurrent>-1</max_concurrent></app></app_config>")
	report, err := boincimport.Import(t.Context(), from, to, nil)
	notes := strings.Join(report.Notes, "\n")
	if err != nil || !strings.Contains(notes, "cc_config.xml was not imported") || !strings.Contains(notes, "app_config.xml was not imported: app[0].name") {
		t.Errorf("%v, notes:\n%s", err, notes)
	}
	if s, err := settings.Load(to); err != nil || s.NCPUs != 0 {
		t.Errorf("settings %+v, %v", s, err)
	}
}
