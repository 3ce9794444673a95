package guirpc_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/agent/view"
	"github.com/starling-grid/starling/prefs"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/state"
)

const (
	projectURL = "http://p.example/"
	accountKey = "0123456789abcdef0123456789abcdef"
)

// A desk is an agent as far as its files are concerned: changes are written and read again, but
// nothing is computed.
type desk struct {
	agent
	dir  string
	host *state.Host
}

func (d desk) Tools(context.Context) (view.Tools, error) {
	s, err := settings.Load(d.dir)
	v := view.Tools{
		Platforms: []string{"x86_64-pc-linux-gnu"}, Prefs: prefs.Merge(), Now: time.Now(), DataDir: d.dir, Settings: s,
		Newer: control.Release{Version: "9.9.9", URL: "https://starling.example/"}, GPUMode: d.host.GPUMode,
		Coprocs: []protocol.Coproc{{Kind: "ATI", Count: 2, Name: "Radeon <7>", OpenCL: &protocol.OpenCL{Name: "gfx1032"}}},
		GPUs:    prefs.Default().MayUseGPUs(prefs.Conditions{Now: time.Now()}, d.host.GPUMode),
	}
	good, _, errAccounts := settings.LoadAccounts(d.dir)
	if err == nil {
		err = errAccounts
	}
	for _, acc := range good {
		v.Projects = append(v.Projects, view.ToolsProject{Project: state.Project{MasterURL: acc.MasterURL}, Account: acc})
	}
	return v, err
}

func (d desk) ChangeSettings(_ context.Context, change func(*settings.Settings)) error {
	return settings.ChangeSettings(d.dir, change)
}

func (d desk) ChangeAccount(_ context.Context, masterURL string, change func(*settings.Override)) error {
	return settings.ChangeAccount(d.dir, masterURL, change)
}

func (d desk) ChangeHost(_ context.Context, change func(*state.Host)) error {
	change(d.host)
	return nil
}

func (desk) ReloadSettings(context.Context) error                              { return nil }
func (desk) Reload(context.Context) error                                      { return nil }
func (desk) Benchmark(context.Context) error                                   { return nil }
func (desk) Quit()                                                             {}
func (desk) Detach(context.Context, string) error                              { return nil }
func (desk) SetPrefsOverride(context.Context, prefs.Layer) error               { return nil }
func (desk) Attach(context.Context, string, protocol.Authenticator) error      { return nil }
func (desk) SteerProject(context.Context, string, control.ProjectAction) error { return nil }
func (desk) SteerTransfer(context.Context, string, string, bool) error         { return nil }
func (d desk) SetMode(_ context.Context, what control.Activity, kind prefs.ModeKind, t time.Duration) error {
	if what == control.GPUs {
		d.host.GPUMode = prefs.ModeFor(kind, t, time.Now())
	}
	return nil
}

func (desk) ProjectConfig(context.Context, string) (*protocol.ProjectConfig, error) {
	return nil, os.ErrDeadlineExceeded
}

func (desk) LookupAccount(_ context.Context, _, _, _ string) (protocol.Authenticator, error) {
	return accountKey, nil
}

func (desk) CreateAccount(_ context.Context, _, _, _, _ string, consent bool) (protocol.Authenticator, error) {
	if consent {
		return "consented", nil
	}
	return accountKey, nil
}

// newDesk returns a desk that is attached to a project, with a peer that talks to it.
func newDesk(t *testing.T, own string) (*peer, string) {
	t.Helper()
	p, d := sitDown(t, own)
	return p, d.dir
}

func sitDown(t testing.TB, own string) (*peer, desk) {
	t.Helper()
	dir := t.TempDir()
	if err := settings.WriteAccount(dir, settings.Account{MasterURL: projectURL, Authenticator: accountKey, ResourceShare: 100}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, settings.File), []byte(own), 0o600); err != nil {
		t.Fatal(err)
	}
	d := desk{dir: dir, host: new(state.Host)}
	return dial(t, serveAgent(t, d, "")), d
}

// Every call of BOINC's client, from the table in its gui_rpc_server_ops.cpp, except one of
// Android's.
var everyCall = strings.Fields(`exchange_versions get_all_projects_list get_cc_status get_disk_usage get_daily_xfer_history
	get_file_transfers get_host_info get_messages get_message_count get_newer_version get_notices_public get_old_results
	get_project_status get_results get_screensaver_tasks get_simple_gui_info get_state get_statistics abort_file_transfer
	abort_result acct_mgr_info get_app_config get_cc_config get_global_prefs_file get_global_prefs_override
	get_global_prefs_working get_notices get_project_init_status get_proxy_settings network_available project_allowmorework
	project_detach project_detach_when_done project_dont_detach_when_done project_nomorework project_resume project_suspend
	quit read_cc_config read_global_prefs_override reset_host_info resume_result run_benchmarks set_app_config set_cc_config
	set_global_prefs_override set_gpu_mode set_host_info set_language set_network_mode set_proxy_settings set_run_mode
	suspend_result create_account create_account_poll get_project_config get_project_config_poll lookup_account
	lookup_account_poll project_attach project_attach_poll project_reset project_update retry_file_transfer run_graphics_app`)

// Whether a person accepted a project's terms of use reaches the project.
func TestConsentIsPassedOn(t *testing.T) {
	for consent, want := range map[string]string{"": accountKey, "<consented_to_terms/>\n": "consented"} {
		p, _ := newDesk(t, "")
		p.call("<create_account>\n<url>" + projectURL + "</url>\n<email_addr>a@b.example</email_addr>\n<passwd_hash>x</passwd_hash>\n<user_name>A</user_name>\n" + consent + "</create_account>")
		got := ""
		for got == "" || strings.Contains(got, "in progress") {
			got = p.call("<create_account_poll/>")
		}
		if !strings.Contains(got, "<authenticator>"+want+"</authenticator>") {
			t.Errorf("%q: %s, want %s", consent, got, want)
		}
	}
}

func TestEveryCallIsKnown(t *testing.T) {
	p, _ := newDesk(t, "")
	for _, name := range everyCall {
		got := p.call("<" + name + ">\n<project_url>" + projectURL + "</project_url>\n</" + name + ">")
		if got == "" || strings.Contains(got, "unrecognized") || strings.Contains(got, "unauthorized") {
			t.Errorf("%s: %q", name, got)
		}
	}
	if got := p.call("<report_device_status/>"); !strings.Contains(got, "unrecognized op: report_device_status/") {
		t.Errorf("what is not known here either: %q", got)
	}
}

func file(t *testing.T, parts ...string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(parts...))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(b)
}

func contains(t *testing.T, what, got string, want ...string) {
	t.Helper()
	for _, part := range want {
		if !strings.Contains(got, part) {
			t.Errorf("%s: no %q in %q", what, part, got)
		}
	}
}

func TestConfig(t *testing.T) {
	const own = "# mine\nncpus = 3\nexclusive_apps = [\"game\"]\n"
	p, dir := newDesk(t, own)
	contains(t, "at first", p.call("<get_cc_config/>"), "<cc_config>\n", "<ncpus>3</ncpus>", "<exclusive_app>game</exclusive_app>", "<task>1</task>", "<task_debug>0</task_debug>")
	set := "<set_cc_config>\n<cc_config>\n<log_flags>\n<task_debug>1</task_debug>\n<nonsense>0</nonsense>\n</log_flags>\n<options>\n<ncpus>2</ncpus>\n" +
		"<max_file_xfers>4</max_file_xfers>\n<exclusive_app>film</exclusive_app>\n<exclusive_app>game</exclusive_app>\n<exclusive_gpu_app>film</exclusive_gpu_app>\n<use_all_gpus>1</use_all_gpus>\n<proxy_info><http_server_name>stale</http_server_name></proxy_info>\n</options>\n</cc_config>\n</set_cc_config>"
	if got := p.call(set); got != reply("<success/>") {
		t.Fatal(got)
	}
	contains(t, "afterwards", p.call("<get_cc_config/>"), "<ncpus>2</ncpus>", "<exclusive_app>film</exclusive_app>\n", "<task_debug>1</task_debug>", "<max_file_xfers>4</max_file_xfers>")
	contains(t, "the override", file(t, dir, settings.OverrideFile), "ncpus = 2", `exclusive_apps = ["film", "game"]`, `exclusive_gpu_apps = ["film"]`, "task_debug = true")
	if got := file(t, dir, settings.OverrideFile); strings.Contains(got, "no_priority_change") || strings.Contains(got, "task = ") || strings.Contains(got, "stale") {
		t.Errorf("the override holds what is as it was: %s", got)
	}
	contains(t, "a bad value", p.call(strings.Replace(set, ">4<", ">4000<", 1)), "<error>max_file_xfers: 4000 is not between 1 and 100</error>")
	contains(t, "after a bad value", p.call("<get_cc_config/>"), "<max_file_xfers>4</max_file_xfers>")
	contains(t, "broken XML", p.call("<set_cc_config>\n<cc_config>\n<options>\n</cc_config>\n</set_cc_config>"), "<error>")
	if got := p.call("<set_cc_config>\n</set_cc_config>"); got != reply("<success/>") {
		t.Error(got)
	}
	contains(t, "taken back", p.call("<get_cc_config/>"), "<ncpus>3</ncpus>", "<max_file_xfers>8</max_file_xfers>", "<task_debug>0</task_debug>")
	if got := file(t, dir, settings.OverrideFile) + file(t, dir, settings.File); got != own {
		t.Errorf("the files hold %q", got)
	}
}

func TestProxy(t *testing.T) {
	p, dir := newDesk(t, "")
	contains(t, "at first", p.call("<get_proxy_settings/>"), "<http_server_name></http_server_name>\n<http_server_port>80</http_server_port>\n", "<no_autodetect>0</no_autodetect>\n</proxy_info>\n")
	info := func(lines string) string {
		return p.call("<set_proxy_settings>\n<proxy_info>\n" + lines + "</proxy_info>\n</set_proxy_settings>")
	}
	for _, tt := range []struct{ set, toml, shown string }{
		{
			"<use_http_proxy/>\n<use_http_auth/>\n<http_server_name>proxy.example</http_server_name>\n<http_server_port>3128</http_server_port>\n<http_user_name>ada</http_user_name>\n<http_user_passwd>p@s&amp;s</http_user_passwd>\n<no_proxy>a.example,b.example</no_proxy>\n",
			"proxy = \"http://ada:p%40s&s@proxy.example:3128\"\nno_proxy = [\"a.example\", \"b.example\"]\n",
			"<use_http_proxy/>\n<use_http_auth/>\n<http_server_name>proxy.example</http_server_name>\n<http_server_port>3128</http_server_port>\n<http_user_name>ada</http_user_name>\n<http_user_passwd>p@s&amp;s</http_user_passwd>\n",
		},
		{
			"<use_socks_proxy/>\n<socks_server_name>::1</socks_server_name>\n<socks_server_port>1080</socks_server_port>\n<socks5_remote_dns>1</socks5_remote_dns>\n",
			"proxy = \"socks5h://[::1]:1080\"\n",
			"<socks_server_name>::1</socks_server_name>\n<socks_server_port>1080</socks_server_port>\n",
		},
	} {
		if got := info(tt.set); got != reply("<success/>") {
			t.Errorf("%s: %s", tt.set, got)
		}
		contains(t, "the override", file(t, dir, settings.OverrideFile), tt.toml)
		contains(t, "what is shown", p.call("<get_proxy_settings/>"), tt.shown)
	}
	contains(t, "no host", info("<use_http_proxy/>\n<http_server_port>80</http_server_port>\n"), "<error>", "is not a proxy URL")
	if got := info(""); got != reply("<success/>") || file(t, dir, settings.OverrideFile) != "" {
		t.Errorf("none: %s, %s", got, file(t, dir, settings.OverrideFile))
	}
}

func TestAppConfig(t *testing.T) {
	p, dir := newDesk(t, "")
	get := "<get_app_config>\n<url>" + projectURL + "</url>\n</get_app_config>"
	contains(t, "at first", p.call(get), "<error>app_config.xml not found</error>")
	set := func(url, inner string) string {
		return p.call("<set_app_config>\n<url>" + url + "</url>\n<app_config>\n" + inner + "</app_config>\n</set_app_config>")
	}
	const config = "<app>\n<name>primes</name>\n<max_concurrent>2</max_concurrent>\n</app>\n" +
		"<app_version>\n<app_name>primes</app_name>\n<avg_ncpus>1.5</avg_ncpus>\n<cmdline>--fast</cmdline>\n</app_version>\n<project_max_concurrent>5</project_max_concurrent>\n"
	if got := set(projectURL, config); got != reply("<success/>") {
		t.Fatal(got)
	}
	contains(t, "afterwards", p.call(get), "<name>primes</name>", "<max_concurrent>2</max_concurrent>", "<avg_ncpus>1.500000</avg_ncpus>", "<cmdline>--fast</cmdline>", "<project_max_concurrent>5</project_max_concurrent>")
	contains(t, "another project", set("http://q.example/", config), "<error>no such project</error>")
	contains(t, "a bad value", set(projectURL, "<app>\n<name>primes</name>\n<max_concurrent>-2</max_concurrent>\n</app>\n"), "<error>app[0].max_concurrent: -2 is negative")
	contains(t, "no name", set(projectURL, "<app>\n</app>\n"), "<error>app[0].name: the short name")
	if got := set(projectURL, ""); got != reply("<success/>") {
		t.Error(got)
	}
	contains(t, "taken back", p.call(get), "<error>app_config.xml not found</error>")
	if all, err := filepath.Glob(filepath.Join(dir, settings.AccountsDir, "*")); err != nil || len(all) != 2 {
		t.Errorf("files: %v, %v", all, err)
	}
}

func TestListsAndVersions(t *testing.T) {
	p, dir := newDesk(t, "")
	if got := p.call("<get_newer_version/>"); got != reply("<newer_version>9.9.9</newer_version>\n<download_url>https://starling.example/</download_url>") {
		t.Error(got)
	}
	if got := p.call("<get_all_projects_list/>"); got != "<boinc_gui_rpc_reply>\n</boinc_gui_rpc_reply>\n" {
		t.Error(got)
	}
	if err := os.WriteFile(filepath.Join(dir, "all_projects_list.xml"), []byte("<projects>\n</projects>\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := p.call("<get_all_projects_list/>"); got != reply("<projects>\n</projects>") {
		t.Error(got)
	}
}
