package boincexport_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/starling-grid/starling/agent/boincexport"
	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/agent/statetest"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/state"
)

const (
	steady = "http://steady.example/"
	busy   = "http://busy.example/x/"
	key    = "0123456789abcdef0123456789abcdef"
)

// agent makes the data directory of an agent that is attached to two projects, one of them with
// tasks, separate preferences and a manager.
func agent(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, u := range []string{steady, busy} {
		check(settings.WriteAccount(dir, settings.Account{MasterURL: u, Authenticator: key, ResourceShare: 30}))
	}
	yes, most := true, 2
	check(settings.ChangeAccount(dir, busy, func(o *settings.Override) {
		o.Suspended, o.NoMoreWork, o.MaxConcurrent = &yes, &yes, &most
		o.Manage(settings.Managed{URL: "http://manager.example/"})
	}))
	check(settings.ChangeAccount(dir, steady, func(o *settings.Override) { o.ExcludeGPUs = []settings.ExcludeGPU{{Type: "NVIDIA"}} }))
	check(os.WriteFile(filepath.Join(dir, settings.File), []byte("ncpus = 2\nlog_flags.task_debug = true\n"), 0o600))
	check(os.WriteFile(filepath.Join(dir, settings.PrefsFile), []byte("max_ncpus_pct = 50\nrun_on_batteries = true\n"), 0o600))
	check(os.WriteFile(filepath.Join(dir, settings.PrefsOverrideFile), []byte("max_ncpus_pct = 75\n"), 0o600))
	db, err := state.Open(filepath.Join(dir, "state.db"))
	check(err)
	check(db.Update(func(tx *state.Tx) {
		db.Hosts.Put(tx, state.Self, state.Host{Prefs: state.AccountPrefs{Project: busy, XML: "<mod_time>7</mod_time>"}})
		db.Projects.Put(tx, busy, state.Project{MasterURL: busy, Name: "Busy & Co", ProjectPrefs: "<resource_share>70</resource_share>\n"})
		db.Results.Put(tx, state.Key(busy, "r_0"), state.Result{Project: busy, Result: protocol.Result{Name: "r_0"}})
	}))
	check(db.Close())
	return dir
}

// Everything that BOINC's client reads is written. The rest is reported.
func TestExport(t *testing.T) {
	dir, to := agent(t), filepath.Join(t.TempDir(), "boinc")
	r, err := boincexport.Export(t.Context(), dir, to)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{busy, steady}; !slices.Equal(slices.Sorted(slices.Values(r.Projects)), want) {
		t.Errorf("projects %v", r.Projects)
	}
	for name, want := range map[string][]string{
		"account_steady.example.xml":             {"<master_url>" + steady, "<authenticator>" + key, "<resource_share>30"},
		"account_busy.example_x.xml":             {"<project_name>Busy &amp; Co<", "<resource_share>70"},
		"projects/busy.example_x/app_config.xml": {"<project_max_concurrent>2<"},
		"cc_config.xml":                          {"<ncpus>2<", "<url>" + steady, "<device_num>-1<", "<task_debug>1<"},
		"global_prefs.xml":                       {"<mod_time>7</mod_time>"},
		"global_prefs_override.xml":              {"<max_ncpus_pct>75", "<run_on_batteries>1"},
	} {
		text, err := os.ReadFile(filepath.Join(to, name))
		if err != nil {
			t.Error(err)
		}
		for _, w := range want {
			if !strings.Contains(string(text), w) {
				t.Errorf("no %s in %s:\n%s", w, name, text)
			}
		}
	}
	notes := strings.Join(r.Notes, "\n")
	for _, want := range []string{
		busy + ": 1 task is unfinished", "resource share", "--project " + busy + " suspend", "--project " + busy + " nomorework", "http://manager.example/",
	} {
		if !strings.Contains(notes, want) {
			t.Errorf("no %q in the notes:\n%s", want, notes)
		}
	}
	if strings.Contains(notes, steady) {
		t.Errorf("there is nothing to say of %s:\n%s", steady, notes)
	}
}

// Nothing of BOINC's is written over.
func TestExportKeepsWhatIsThere(t *testing.T) {
	dir, to := agent(t), t.TempDir()
	mine := filepath.Join(to, "global_prefs_override.xml")
	if err := os.WriteFile(mine, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := boincexport.Export(t.Context(), dir, to)
	if err != nil || slices.Contains(r.Files, filepath.Base(mine)) || !strings.Contains(strings.Join(r.Notes, "\n"), filepath.Base(mine)) {
		t.Errorf("%v, wrote %v, notes %v", err, r.Files, r.Notes)
	}
	if text, err := os.ReadFile(mine); err != nil || string(text) != "mine" {
		t.Errorf("preferences that were there are %q, %v", text, err)
	}
	before, err := os.ReadDir(to)
	if err != nil {
		t.Fatal(err)
	}
	if r, err := boincexport.Export(t.Context(), dir, to); err == nil || !strings.Contains(err.Error(), "nothing was exported") || len(r.Files) > 0 {
		t.Errorf("again: %v, wrote %v", err, r.Files)
	}
	if after, err := os.ReadDir(to); err != nil || len(after) != len(before) {
		t.Errorf("a refusal left %v, %v", after, err)
	}
}

// An export needs a project, and the agent must not be running.
func TestExportRefuses(t *testing.T) {
	if _, err := boincexport.Export(t.Context(), t.TempDir(), t.TempDir()); err == nil || !strings.Contains(err.Error(), "nothing to export") {
		t.Errorf("without a project: %v", err)
	}
	dir := agent(t)
	statetest.Open(t, dir)
	to := filepath.Join(t.TempDir(), "boinc")
	if _, err := boincexport.Export(t.Context(), dir, to); err == nil || !strings.Contains(err.Error(), "an agent is running") {
		t.Errorf("while an agent runs: %v", err)
	}
	if _, err := os.Stat(to); err == nil {
		t.Error("a folder was made for nothing")
	}
}
