//go:build unix

package boincimport_test

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/agent/boincimport"
	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/agent/statetest"
	"github.com/starling-grid/starling/internal/testerr"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/state"
)

const url = "http://127.0.0.1:8090/proj/"

// A state as BOINC's client writes it: a task that was started, one uploaded, one whose upload
// waits, one that the server has acknowledged.
const clientState = `<client_state>
<host_info><host_cpid>6b868508ea8d1b854eff3067366fdcf3</host_cpid><p_fpops>2000000000.0</p_fpops><p_iops>3000000000.0</p_iops></host_info>
<time_stats><on_frac>0.5</on_frac><connected_frac>-1.000000</connected_frac><active_frac>0.25</active_frac></time_stats>
<project>
    <master_url>http://127.0.0.1:8090/proj/</master_url>
    <project_name>Proj</project_name>
    <hostid>42</hostid>
    <rpc_seqno>17</rpc_seqno>
    <resource_share>30</resource_share>
    <duration_correction_factor>2.5</duration_correction_factor>
    <suspended_via_gui/>
</project>
<app><name>a</name></app>
<file><name>in</name><nbytes>5</nbytes><md5_cksum>5d41402abc4b2a76b9719d911017c592</md5_cksum><status>1</status><download_url>http://127.0.0.1:8090/in</download_url></file>
<file><name>bad</name><nbytes>5</nbytes><md5_cksum>00000000000000000000000000000000</md5_cksum><status>1</status><download_url>http://127.0.0.1:8090/bad</download_url></file>
<file><name>out</name><nbytes>5</nbytes><md5_cksum>5d41402abc4b2a76b9719d911017c592</md5_cksum><status>1</status><upload_url>http://127.0.0.1:8090/file_upload_handler</upload_url></file>
<file><name>lost</name><nbytes>5</nbytes><status>1</status><upload_url>http://127.0.0.1:8090/file_upload_handler</upload_url></file>
<app_version><app_name>a</app_name><version_num>100</version_num><platform>x86_64-pc-linux-gnu</platform></app_version>
<workunit><name>w</name><app_name>a</app_name><file_ref><file_name>in</file_name></file_ref><file_ref><file_name>bad</file_name></file_ref></workunit>
<result><name>begun</name><wu_name>w</wu_name><state>2</state><platform>x86_64-pc-linux-gnu</platform><version_num>100</version_num><received_time>1700000000</received_time></result>
<result><name>done</name><wu_name>w</wu_name><state>5</state><platform>x86_64-pc-linux-gnu</platform><version_num>100</version_num><final_cpu_time>9</final_cpu_time><ready_to_report/></result>
<result><name>sending</name><wu_name>w</wu_name><state>4</state><platform>x86_64-pc-linux-gnu</platform><version_num>100</version_num><file_ref><file_name>out</file_name></file_ref><file_ref><file_name>lost</file_name></file_ref></result>
<result><name>failed</name><wu_name>w</wu_name><state>3</state><exit_status>195</exit_status><platform>x86_64-pc-linux-gnu</platform><version_num>100</version_num></result>
<result><name>known</name><wu_name>w</wu_name><state>5</state><got_server_ack/><ready_to_report/></result>
<active_task_set><active_task><project_master_url>http://127.0.0.1:8090/proj/</project_master_url><result_name>begun</result_name><slot>3</slot><checkpoint_cpu_time>7.5</checkpoint_cpu_time><checkpoint_elapsed_time>8</checkpoint_elapsed_time><checkpoint_fraction_done>0.5</checkpoint_fraction_done></active_task></active_task_set>
<user_run_request>2</user_run_request>
</client_state>
`

// folder makes a data directory of BOINC's client.
func folder(t *testing.T, state string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"client_state.xml":                state,
		"account_127.0.0.1_8090_proj.xml": "<account><master_url>" + url + "</master_url><authenticator>0123abcd</authenticator></account>",
		"global_prefs.xml":                "<global_preferences><source_project>" + url + "</source_project><mod_time>1700000000</mod_time><run_on_batteries>1</run_on_batteries></global_preferences>",
		"global_prefs_override.xml":       "<global_preferences><max_ncpus_pct>50</max_ncpus_pct></global_preferences>",
		"lockfile":                        "",
		"statistics_127.0.0.1_8090_proj.xml": "<project_statistics><master_url>" + url + "</master_url>" +
			"<daily_statistics><day>1700006400</day><user_total_credit>9</user_total_credit><host_total_credit>5</host_total_credit></daily_statistics>" +
			"<daily_statistics><day>1699920000</day><user_total_credit>8</user_total_credit></daily_statistics>" +
			"<daily_statistics><day>1600000000</day><user_total_credit>1</user_total_credit></daily_statistics></project_statistics>",
		"projects/127.0.0.1_8090_proj/in":      "hello",
		"projects/127.0.0.1_8090_proj/bad":     "torn!",
		"projects/127.0.0.1_8090_proj/out":     "hello",
		"projects/127.0.0.1_8090_proj/mystery": "left alone",
		"slots/3/in":                           "<soft_link>../../projects/127.0.0.1_8090_proj/in</soft_link>\n",
		"slots/3/checkpoint":                   "half",
		"slots/3/init_data.xml":                "<app_init_data></app_init_data>",
	} {
		path := filepath.Join(dir, name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		must(t, os.WriteFile(path, []byte(text), 0o600))
	}
	return dir
}

func TestImport(t *testing.T) {
	from, to := folder(t, clientState), t.TempDir()
	report, err := boincimport.Import(t.Context(), from, to, nil)
	must(t, err)
	want := boincimport.ProjectReport{MasterURL: url, Name: "Proj", HostID: 42, Results: 4, Begun: 1, Finished: 3}
	if len(report.Projects) != 1 || report.Projects[0] != want {
		t.Errorf("report %+v, want %+v", report, want)
	}
	accounts, _, err := settings.LoadAccounts(to)
	if err != nil || len(accounts) != 1 || accounts[0].Authenticator != "0123abcd" || accounts[0].ResourceShare != 30 || !accounts[0].Suspended {
		t.Errorf("accounts %+v, %v", accounts, err)
	}
	db := statetest.Open(t, to)
	p, _ := db.Projects.Get(url)
	if p.HostID != 42 || p.RPCSeqno <= 17 || !p.Contact.Initialized {
		t.Errorf("project %+v", p)
	}
	if s := p.Statistics; len(s) != 2 || s[0].UserTotal != 8 || s[1].HostTotal != 5 || s[1].Day.Unix() != 1700006400 {
		t.Errorf("credit of past days %+v; want the two of the last 60 days", s)
	}
	if p.Estimates != (state.Estimates{Results: 1, Ratio: 2.5}) {
		t.Errorf("estimates %+v", p.Estimates)
	}
	h, _ := db.Hosts.Get(state.Self)
	if h.CPID != "6b868508ea8d1b854eff3067366fdcf3" || h.Fpops != 2e9 || h.Times.On != 0.5 || h.Times.Active != 0.25 ||
		h.Prefs.Project != url || !h.Prefs.Changed.Equal(time.Unix(1700000000, 0)) || !strings.Contains(h.Prefs.XML, "run_on_batteries") {
		t.Errorf("host %+v", h)
	}
	if b, err := os.ReadFile(filepath.Join(to, settings.PrefsOverrideFile)); err != nil || !strings.Contains(string(b), "max_ncpus_pct = 50") {
		t.Errorf("preferences %q, %v", b, err)
	}
	for name, want := range map[string]struct {
		state protocol.ClientState
		ready bool
		slot  int
	}{
		"begun":   {protocol.ClientDownloaded, false, 0},
		"done":    {protocol.ClientUploaded, true, state.NoSlot},
		"sending": {protocol.ClientUploading, false, state.NoSlot},
		"failed":  {protocol.ClientComputeError, true, state.NoSlot},
	} {
		r, ok := db.Results.Get(state.Key(url, name))
		if !ok || r.State != want.state || r.ReadyToReport != want.ready || r.Slot != want.slot {
			t.Errorf("result %s: %v %+v; want %+v", name, ok, r, want)
		}
		if _, ok := db.Versions.Get(r.Version); !ok {
			t.Errorf("result %s: no app version %q", name, r.Version)
		}
	}
	if r, _ := db.Results.Get(state.Key(url, "begun")); r.Checkpoint.CPUTime != 7500*time.Millisecond || r.Checkpoint.Fraction != 0.5 || r.Started.IsZero() {
		t.Errorf("begun result %+v", r)
	}
	for name, want := range map[string]state.FileStatus{"in": state.FilePresent, "bad": state.FileAbsent, "out": state.FilePresent, "lost": state.FileFailed} {
		f, _ := db.Files.Get(state.Key(url, name))
		_, err := os.Stat(filepath.Join(to, "projects/127.0.0.1_8090_proj", name))
		if f.Local != want || (err == nil) != (want == state.FilePresent) {
			t.Errorf("file %s: status %d, %v; want %d", name, f.Local, err, want)
		}
	}
	for name, want := range map[string]string{
		"checkpoint":           "half",
		"boinc_setup_complete": "<setup>\n<result_name>127.0.0.1_8090_proj/begun</result_name>\n</setup>\n",
		"init_data.xml":        "",
	} {
		if b, _ := os.ReadFile(filepath.Join(to, "slots/0", name)); string(b) != want {
			t.Errorf("slot file %s holds %q, want %q", name, b, want)
		}
	}
}

// TestRefusals checks that anything that cannot be imported completely is refused, with nothing
// changed.
func TestRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		state string
		want  string
	}{
		"no app version":                         {strings.Replace(clientState, "<version_num>100</version_num><platform>x86_64-pc-linux-gnu</platform></app_version>", "<version_num>99</version_num></app_version>", 1), "its app version is missing"},
		"own programs without their description": {strings.Replace(clientState, "<suspended_via_gui/>", "<anonymous_platform/>", 1), "put it back"},
		"path in a name":                         {strings.Replace(clientState, "<file><name>in<", "<file><name>../in<", 1), "file name"},
		"half a file":                            {clientState[:len(clientState)/2], "is not a data directory of BOINC's client"},
	} {
		t.Run(name, func(t *testing.T) {
			to := t.TempDir()
			_, err := boincimport.Import(t.Context(), folder(t, c.state), to, nil)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
			if err != nil && strings.Contains(err.Error(), "_prev.xml") {
				t.Errorf("missing backups are named, too: %v", err)
			}
			if accounts, _, err := settings.LoadAccounts(to); err != nil || len(accounts) != 0 {
				t.Errorf("accounts %+v, %v", accounts, err)
			}
		})
	}
}

// TestTornHistory checks that credit of past days, which is only looked at, stops
// no import.
func TestTornHistory(t *testing.T) {
	from, to := folder(t, clientState), t.TempDir()
	must(t, os.WriteFile(filepath.Join(from, "statistics_127.0.0.1_8090_proj.xml"), []byte("<project_statistics><daily"), 0o600))
	r, err := boincimport.Import(t.Context(), from, to, nil)
	if err != nil || !strings.Contains(strings.Join(r.Notes, "\n"), "credit history was not imported") {
		t.Errorf("%v, %+v", err, r.Notes)
	}
}

func TestRefusesWhileAttached(t *testing.T) {
	to := t.TempDir()
	must(t, settings.WriteAccount(to, settings.Account{MasterURL: url, Authenticator: "00ff", ResourceShare: 100}))
	if _, err := boincimport.Import(t.Context(), folder(t, clientState), to, nil); err == nil || !strings.Contains(err.Error(), "already attached to it") {
		t.Errorf("got %v", err)
	}
	if _, err := boincimport.Import(t.Context(), folder(t, clientState), t.TempDir(), []string{"http://example.org/other/"}); err == nil || !strings.Contains(err.Error(), "not attached to it") {
		t.Errorf("a project that is not there: %v", err)
	}
}

// lockHolder makes this program take the lock of BOINC's client, for
// TestRefusesWhileLocked.
const lockHolder = "STARLING_TEST_LOCK"

func TestMain(m *testing.M) {
	if name := os.Getenv(lockHolder); name != "" {
		holdLock(name)
	}
	os.Exit(m.Run())
}

func TestRefusesWhileLocked(t *testing.T) {
	from := folder(t, clientState)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), lockHolder+"="+filepath.Join(from, "lockfile"))
	in, err := cmd.StdinPipe()
	must(t, err)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(line, err)
	}
	if _, err := boincimport.Import(t.Context(), from, t.TempDir(), nil); !errors.Is(err, boincimport.ErrRunning) {
		t.Errorf("with the lock taken: %v", err)
	}
	_ = in.Close()
	must(t, cmd.Wait())
	if _, err := boincimport.Import(t.Context(), from, t.TempDir(), nil); err != nil {
		t.Errorf("with the lock free: %v", err)
	}
}

var must = testerr.Must
