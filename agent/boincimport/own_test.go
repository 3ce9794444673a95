//go:build unix

package boincimport_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/starling-grid/starling/agent/boincimport"
	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/agent/statetest"
	"github.com/starling-grid/starling/state"
)

// ownFolder returns the data directory of a client whose volunteer computes with their own program.
// BOINC's records describe that as something else.
func ownFolder(t *testing.T, number int) string {
	t.Helper()
	dir := folder(t, strings.Replace(clientState, "<suspended_via_gui/>", "<anonymous_platform/>", 1))
	for name, text := range map[string]string{
		"mine": "#!/bin/sh\n", "table": "12",
		"app_info.xml": fmt.Sprintf("<app_info><app><name>a</name></app><file_info><name>mine</name></file_info><file_info><name>table</name></file_info>\n"+
			"<app_version><app_name>a</app_name><version_num>%d</version_num><platform>x86_64-pc-linux-gnu</platform><flops>5e9</flops>"+
			"<file_ref><file_name>mine</file_name><main_program/></file_ref><file_ref><file_name>table</file_name></file_ref></app_version>\n"+
			"<app_version><app_name>b</app_name></app_version></app_info>\n", number),
	} {
		must(t, os.WriteFile(filepath.Join(dir, "projects/127.0.0.1_8090_proj", name), []byte(text), map[bool]os.FileMode{true: 0o755, false: 0o600}[name == "mine"]))
	}
	return dir
}

// A volunteer's own programs are imported with their description, and their tasks resume.
func TestImportOfOwnPrograms(t *testing.T) {
	from, to := ownFolder(t, 100), t.TempDir()
	report, err := boincimport.Import(t.Context(), from, to, nil)
	must(t, err)
	if r := report.Projects[0]; r.Begun != 1 || r.Finished != 3 {
		t.Errorf("report %+v", r)
	}
	if notes := strings.Join(report.Notes, "\n"); !strings.Contains(notes, `app_info.xml: line 3: a version is of application "b"`) {
		t.Errorf("notes %s", notes)
	}
	at := filepath.Join(to, "projects", "127.0.0.1_8090_proj")
	for name, want := range map[string]os.FileMode{"mine": 0o755, "table": 0o644, "app_info.xml": 0o644} {
		a, errA := os.ReadFile(filepath.Join(from, "projects/127.0.0.1_8090_proj", name))
		b, errB := os.ReadFile(filepath.Join(at, name))
		st, err := os.Stat(filepath.Join(at, name))
		if errA != nil || errB != nil || err != nil || string(a) != string(b) || st.Mode().Perm() != want {
			t.Errorf("%s: %v, %v, %v, mode %v, want %v", name, errA, errB, err, st, want)
		}
	}
	db := statetest.Open(t, to)
	p, _ := db.Projects.Get(url)
	f, _ := db.Files.Get(state.Key(url, "mine"))
	r, _ := db.Results.Get(state.Key(url, "begun"))
	v, known := db.Versions.Get(r.Version)
	if !p.Anonymous || !f.Own || f.Local != state.FilePresent || !known || v.Flops != 5e9 || db.Versions.Len() != 1 {
		t.Errorf("on record: %v, %+v, %+v", p.Anonymous, f, v)
	}
}

// A task of a version that is not described any more could not resume.
func TestImportOfOwnProgramsThatAreGone(t *testing.T) {
	to := t.TempDir()
	_, err := boincimport.Import(t.Context(), ownFolder(t, 99), to, nil)
	if err == nil || !strings.Contains(err.Error(), "task begun: its app version is missing") {
		t.Errorf("got %v", err)
	}
	if accounts, _, err := settings.LoadAccounts(to); err != nil || len(accounts) != 0 {
		t.Errorf("accounts %+v, %v", accounts, err)
	}
}
