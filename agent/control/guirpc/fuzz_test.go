package guirpc_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/prefs"
)

// A writingDesk writes preferences too.
type writingDesk struct{ desk }

func (d writingDesk) SetPrefsOverride(_ context.Context, l prefs.Layer) error {
	return settings.WritePrefsOverride(d.dir, l)
}

// setters are the calls by which tools change files.
var setters = []string{
	"set_app_config", "set_cc_config", "set_global_prefs_override", "set_proxy_settings", "set_host_info", "set_language", "project_attach", "exchange_versions",
}

// FuzzRequest has tools send anything: each request is answered, and what it changed
// can be read again.
func FuzzRequest(f *testing.F) {
	dir := f.TempDir()
	if err := settings.WriteAccount(dir, settings.Account{MasterURL: projectURL, Authenticator: accountKey, ResourceShare: 100}); err != nil {
		f.Fatal(err)
	}
	_, d := sitDown(f, "")
	d.dir = dir
	addr := serveAgent(f, writingDesk{d}, "")
	f.Add(uint8(0), "<url>"+projectURL+"</url><app_config><app><name>a</name><max_concurrent>2</max_concurrent></app></app_config>")
	f.Add(uint8(1), "<cc_config><log_flags><task>1</task></log_flags><options><ncpus>2</ncpus><exclusive_app>x</exclusive_app><device_name>d</device_name></options></cc_config>")
	f.Add(uint8(2), "<max_ncpus_pct>50</max_ncpus_pct><day_prefs><day_of_week>1</day_of_week><start_hour>1</start_hour><end_hour>3</end_hour></day_prefs>")
	f.Add(uint8(3), "<proxy_info><use_http_proxy/><http_server_name>h</http_server_name><http_server_port>80</http_server_port><no_proxy>a,b</no_proxy></proxy_info>")
	f.Add(uint8(4), "<host_info><product_name>p</product_name><domain_name>d</domain_name></host_info>")
	f.Add(uint8(5), "<language>de</language>")
	f.Fuzz(func(t *testing.T, call uint8, body string) {
		name := setters[int(call)%len(setters)]
		p := dial(t, addr)
		got := p.call("<" + name + ">" + strings.ReplaceAll(body, "\x03", "") + "</" + name + ">")
		if !strings.HasPrefix(got, "<boinc_gui_rpc_reply>\n") || !strings.HasSuffix(got, "</boinc_gui_rpc_reply>\n") {
			t.Errorf("%s: answered %q", name, got)
		}
		if _, err := settings.Load(dir); err != nil {
			t.Errorf("%s: settings: %v", name, err)
		}
		if good, _, err := settings.LoadAccounts(dir); err != nil || len(good) != 1 {
			t.Errorf("%s: accounts: %v, %v", name, good, err)
		}
		file := filepath.Join(dir, settings.PrefsOverrideFile)
		if src, err := os.ReadFile(file); err == nil {
			if _, err := prefs.Parse(file, src, ""); err != nil {
				t.Errorf("%s: preferences: %v", name, err)
			}
		}
		_ = p.Close()
	})
}
