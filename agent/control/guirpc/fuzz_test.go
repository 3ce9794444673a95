package guirpc_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/prefs"
)

// A writingDesk writes preferences too.
type writingDesk struct{ desk }

func (d writingDesk) SetPrefsOverride(_ context.Context, l prefs.Layer) error {
	return settings.WritePrefsOverride(d.dir, l)
}

func (writingDesk) Log(context.Context, int) (control.Log, error) { return control.Log{}, nil }

func (writingDesk) SteerTask(context.Context, string, string, control.TaskAction) error { return nil }

func (writingDesk) JoinManager(context.Context, string, string, string) error { return nil }

func (writingDesk) SyncManager(context.Context) error { return nil }

func (writingDesk) LeaveManager(context.Context, bool) error { return nil }

// arguments are a fuzzer's first arguments for the calls that have some.
var arguments = map[string]string{
	"set_app_config":            "<url>" + projectURL + "</url><app_config><app><name>a</name><max_concurrent>2</max_concurrent></app></app_config>",
	"set_cc_config":             "<cc_config><log_flags><task>1</task></log_flags><options><ncpus>2</ncpus><exclusive_app>x</exclusive_app><device_name>d</device_name></options></cc_config>",
	"set_global_prefs_override": "<max_ncpus_pct>50</max_ncpus_pct><day_prefs><day_of_week>1</day_of_week><start_hour>1</start_hour><end_hour>3</end_hour></day_prefs>",
	"set_proxy_settings":        "<proxy_info><use_http_proxy/><http_server_name>h</http_server_name><http_server_port>80</http_server_port><no_proxy>a,b</no_proxy></proxy_info>",
	"set_host_info":             "<host_info><product_name>p</product_name><domain_name>d</domain_name></host_info>",
	"set_language":              "<language>de</language>",
	"get_messages":              "<seqno>-3</seqno><translatable/>",
	"get_results":               "<active_only>1</active_only>",
	"set_run_mode":              "<always/><duration>1e300</duration>",
	"project_attach":            "<project_url>" + projectURL + "</project_url><authenticator>" + accountKey + "</authenticator>",
	"abort_result":              "<project_url>" + projectURL + "</project_url><name>n</name>",
	"lookup_account":            "<url>" + projectURL + "</url><email_addr>a@b.c</email_addr><passwd_hash>0</passwd_hash><ldap_auth>1</ldap_auth>",
	"acct_mgr_rpc":              "<url>" + projectURL + "</url><name>n</name><password>p</password>",
}

// FuzzRequest lets tools send anything: each request is answered, and its changes can be read
// again.
func FuzzRequest(f *testing.F) {
	dir := f.TempDir()
	if err := settings.WriteAccount(dir, settings.Account{MasterURL: projectURL, Authenticator: accountKey, ResourceShare: 100}); err != nil {
		f.Fatal(err)
	}
	_, d := sitDown(f, "")
	d.dir = dir
	addr := serveAgent(f, writingDesk{d}, "")
	for _, name := range everyCall {
		f.Add("<boinc_gui_rpc_request>\n<" + name + ">" + arguments[name] + "</" + name + ">\n</boinc_gui_rpc_request>\n")
	}
	f.Fuzz(func(t *testing.T, request string) {
		p := dial(t, addr)
		got := p.ask(strings.ReplaceAll(request, "\x03", ""))
		if !strings.HasPrefix(got, "<boinc_gui_rpc_reply>\n") || !strings.HasSuffix(got, "</boinc_gui_rpc_reply>\n") || strings.Count(got, "boinc_gui_rpc_reply") != 2 {
			t.Errorf("answered %q", got)
		}
		if _, err := settings.Load(dir); err != nil {
			t.Errorf("settings: %v", err)
		}
		if good, _, err := settings.LoadAccounts(dir); err != nil || len(good) != 1 {
			t.Errorf("accounts: %v, %v", good, err)
		}
		file := filepath.Join(dir, settings.PrefsOverrideFile)
		if src, err := os.ReadFile(file); err == nil {
			if _, err := prefs.Parse(file, src, ""); err != nil {
				t.Errorf("preferences: %v", err)
			}
		}
		_ = p.Close()
	})
}
