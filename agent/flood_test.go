package agent_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/reason"
	"github.com/starling-grid/starling/state"
	"github.com/starling-grid/starling/workfetch"
)

// flood returns a reply with n tasks that wait for one file, whatever was asked for.
func flood(n int) answer {
	r := protocol.SchedulerReply{HostID: 1, ProjectName: "Flood"}
	r.Apps = []protocol.App{{Name: "app"}}
	r.AppVersions = []protocol.AppVersion{{AppName: "app", VersionNum: 1, FileRefs: []protocol.FileRef{{FileName: "prog", MainProgram: true}}}}
	r.Files = []protocol.FileInfo{
		{Name: "prog", NBytes: 3, Executable: true, Signature: "00\n.\n", DownloadURLs: []string{demoURL + "download/prog"}},
		{Name: "in", NBytes: 2, DownloadURLs: []string{demoURL + "download/in"}},
	}
	for i := range n {
		name := fmt.Sprintf("w_%d", i)
		r.Workunits = append(r.Workunits, protocol.Workunit{Name: name, AppName: "app", RscFpopsEst: 1e12, FileRefs: []protocol.FileRef{{FileName: "in"}}})
		r.Results = append(r.Results, protocol.Result{Name: name + "_0", WorkunitName: name, VersionNum: 1, ReportDeadline: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)})
	}
	return answer{code: 200, body: r.Encode()}
}

// saves returns the number of times that a state file was written.
func saves(t *testing.T, dir string) (n int) {
	t.Helper()
	db, err := bbolt.Open(filepath.Join(dir, "state.db"), 0o600, &bbolt.Options{ReadOnly: true})
	must(t, err)
	defer db.Close()
	_ = db.View(func(tx *bbolt.Tx) error {
		n = tx.ID()
		return nil
	})
	return n
}

// TestAFloodOfTasks sends an agent far more tasks than it asked for. All of them wait for a file
// that cannot be downloaded.
func TestAFloodOfTasks(t *testing.T) {
	t.Parallel()
	answers := withMaster(t, demoURL, flood(50_000))
	answers["in"] = []answer{{code: 404}} // all that wait for it fail at once
	answers["prog"] = []answer{{code: 503}}
	w := newWorld(t, demoURL, answers, nil)
	w.run(func(t *testing.T) {
		s := w.after(t, 4*time.Second)
		if n := len(s.Tasks); n != workfetch.MaxAtOnce {
			t.Errorf("%d tasks are here, want %d", n, workfetch.MaxAtOnce)
		}
		for _, k := range s.Tasks {
			if !strings.HasPrefix(k.Why, "Failed: ") {
				t.Fatalf("%s: %s", k.Name, k.Why)
			}
		}
		d, err := w.a.Decision(t.Context())
		must(t, err)
		for what, text := range map[string]string{"status": strings.Join(s.Projects[0].Notices, "\n"), "why": d.Snapshot.Projects[0].LeftOut} {
			if !strings.Contains(text, "sent 50000 tasks, of which 49000 were rejected") || !strings.Contains(text, "inform the project") {
				t.Errorf("%s says %q", what, text)
			}
		}
	})
	if n := saves(t, w.dir); n > 60 {
		t.Errorf("the state was saved %d times for one answer", n)
	}
}

// TestABoundOfEachProject lets a project send tasks until there is no more room.
func TestABoundOfEachProject(t *testing.T) {
	t.Parallel()
	held := func(db *state.DB, tx *state.Tx) {
		db.Projects.Put(tx, benchURL, state.Project{MasterURL: benchURL, SchedulerURLs: []string{benchURL + "cgi"}, HostID: 111, Contact: state.Contact{Initialized: true}})
		db.Units.Put(tx, state.Key(benchURL, "tt_1"), state.Workunit{Project: benchURL, Workunit: protocol.Workunit{Name: "tt_1", FileRefs: []protocol.FileRef{{FileName: "in"}}}})
		for i := range workfetch.MaxHeld - 300 {
			r := state.Result{Project: benchURL, State: protocol.ClientDownloading, Slot: state.NoSlot}
			r.Name, r.WorkunitName = fmt.Sprintf("old_%d", i), "tt_1"
			db.Results.Put(tx, state.Key(benchURL, r.Name), r)
		}
	}
	answers := withMaster(t, benchURL, flood(500))
	answers["in"], answers["prog"] = []answer{{code: 503}}, []answer{{code: 503}}
	w := newWorld(t, benchURL, answers, held)
	w.run(func(t *testing.T) {
		must(t, w.a.SteerProject(t.Context(), benchURL, control.UpdateProject))
		p := w.project(t, time.Minute)
		if p.Tasks != workfetch.MaxHeld || p.WorkCode != reason.TooManyTasks || !strings.Contains(p.Work, "already has 10000 of its tasks") {
			t.Errorf("%d tasks; %s %s", p.Tasks, p.WorkCode, p.Work)
		}
		if text := strings.Join(p.Notices, "\n"); !strings.Contains(text, "sent 500 tasks, of which 200 were rejected") {
			t.Errorf("notices %q", text)
		}
	})
}

// TestWhatIsDescribedIsBounded checks the other lists of a reply.
func TestWhatIsDescribedIsBounded(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	b.WriteString("<scheduler_reply><hostid>1</hostid>")
	for i := range workfetch.MaxFiles + 10 {
		fmt.Fprintf(&b, "<file_info><name>f%d</name><sticky/></file_info>", i)
	}
	for i := range workfetch.MaxVersions + 20 {
		fmt.Fprintf(&b, "<app><name>a%d</name></app><app_version><app_name>a%d</app_name><version_num>1</version_num></app_version>", i, i)
	}
	b.WriteString("<app_version><app_name>wide</app_name>" + strings.Repeat("<file_ref><file_name>x</file_name></file_ref>", workfetch.MaxRefs+1) + "</app_version>")
	b.WriteString("<app><name>" + strings.Repeat("n", 300) + "</name></app>")
	b.WriteString(strings.Repeat(`<message priority="low">hello</message>`, 5000))
	b.WriteString("</scheduler_reply>")
	w := newWorld(t, demoURL, withMaster(t, demoURL, answer{code: 200, body: b.Bytes()}), nil)
	w.run(func(t *testing.T) {
		p := w.project(t, 10*time.Second)
		text := strings.Join(p.Notices, "\n")
		for _, want := range []string{"refers to 1001 files", "Applications rejected: 20.", "App versions rejected: 20.", "Files rejected: 10."} {
			if !strings.Contains(text, want) {
				t.Errorf("%q is not in %.500q", want, text)
			}
		}
		if n := len(p.Notices); n != workfetch.MaxMessages+1 {
			t.Errorf("%d notices", n)
		}
	})
}
