package agent_test

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/reason"
	"github.com/starling-grid/starling/state"
)

// slow is a transport with a project whose scheduler drips, next to one that answers.
type slow struct {
	http.RoundTripper
	asked []time.Time
}

const slowURL = "http://127.0.0.1:18070/slow/"

func (s *slow) RoundTrip(r *http.Request) (*http.Response, error) {
	if !strings.HasPrefix(r.URL.String(), slowURL) {
		<-time.After(time.Second) // so that the slow one is asked for work first
		return s.RoundTripper.RoundTrip(r)
	}
	content := io.Reader(strings.NewReader("<!-- <scheduler>" + slowURL + "cgi</scheduler> -->"))
	if kindOf(r) == sched {
		s.asked = append(s.asked, time.Now())
		content = drip{r}
	}
	return &http.Response{StatusCode: 200, Header: make(http.Header), Body: io.NopCloser(content), ContentLength: -1, Request: r}, nil
}

type drip struct{ r *http.Request }

func (d drip) Read(p []byte) (int, error) {
	select {
	case <-d.r.Context().Done():
		return 0, d.r.Context().Err()
	case <-time.After(5 * time.Second):
		return copy(p, strings.Repeat(" ", 1500)), nil // not too slow to be an answer
	}
}

// TestASlowServerIsWaitedForAlone attaches a project whose scheduler takes forever to answer, next
// to one that answers. The other is asked all the same, and meanwhile the reason is shown.
func TestASlowServerIsWaitedForAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, demoURL, withMaster(t, demoURL, answer{code: 200, body: []byte("<scheduler_reply><hostid>1</hostid></scheduler_reply>")}), nil)
	other := &slow{RoundTripper: w.peer}
	w.transport = other
	must(t, settings.WriteAccount(w.dir, settings.Account{MasterURL: slowURL, Authenticator: "1", ResourceShare: 100}))
	w.run(func(t *testing.T) {
		s := w.after(t, 29*time.Second)
		p, _ := find(s, slowURL)
		if !strings.HasPrefix(p.Work, "In contact with the project since 00:00:00: ") {
			t.Errorf("of the slow one: %s", p.Work)
		}
		s = w.after(t, 3*time.Minute)
		if n := w.count(sched); n < 2 {
			t.Errorf("the other was asked %d times", n)
		}
		if p, _ := find(s, slowURL); p.WorkCode != reason.Conversing || !strings.Contains(p.Work, "In contact") {
			t.Errorf("of the slow one: %s %s", p.WorkCode, p.Work)
		}
		// Detaching the project does not wait for it either.
		must(t, w.a.Detach(t.Context(), slowURL))
		if _, there := find(w.after(t, time.Second), slowURL); there {
			t.Error("it is still there")
		}
		if len(other.asked) != 1 {
			t.Errorf("the slow one was asked %d times", len(other.asked))
		}
	})
}

// stalled is a transport with a project whose files arrive in drops, next to one whose files
// arrive.
type stalled struct{ http.RoundTripper }

func (s stalled) RoundTrip(r *http.Request) (*http.Response, error) {
	content := io.Reader(drops{r})
	switch {
	case strings.HasPrefix(r.URL.String(), demoURL+"f"):
		content = strings.NewReader("hello")
	case !strings.HasPrefix(r.URL.String(), slowURL+"f"):
		return nil, io.ErrUnexpectedEOF
	}
	return &http.Response{StatusCode: 200, Header: make(http.Header), Body: io.NopCloser(content), ContentLength: -1, Request: r}, nil
}

// drops are fewer bytes than anybody could want, and more than a line gives that is
// dead.
type drops struct{ r *http.Request }

func (d drops) Read(p []byte) (int, error) {
	select {
	case <-d.r.Context().Done():
		return 0, d.r.Context().Err()
	case <-time.After(time.Minute):
		return copy(p, strings.Repeat("x", 4<<10)), nil
	}
}

// Files that hardly move do not delay other projects' files, even if they fill all simultaneous
// transfers.
func TestStalledTransfersKeepNobodyWaiting(t *testing.T) {
	t.Parallel()
	wants := func(db *state.DB, tx *state.Tx, project, md5 string, size float64) {
		db.Projects.Put(tx, project, state.Project{MasterURL: project, SchedulerURLs: []string{project + "cgi"}, HostID: 1, Contact: state.Contact{Initialized: true, MinRPCTime: time.Date(2000, 1, 1, 5, 0, 0, 0, time.UTC)}})
		version := protocol.AppVersion{AppName: "app", VersionNum: 1, Platform: "p", FileRefs: []protocol.FileRef{{FileName: "program", MainProgram: true}}}
		db.Versions.Put(tx, state.VersionKey(project, version), state.AppVersion{Project: project, AppVersion: version})
		for _, n := range []string{"f1", "f2"} {
			db.Files.Put(tx, state.Key(project, n), state.File{Project: project, FileInfo: protocol.FileInfo{Name: n, MD5: md5, NBytes: int64(size), DownloadURLs: []string{project + n}}})
			db.Units.Put(tx, state.Key(project, "w"+n), state.Workunit{Project: project, Workunit: protocol.Workunit{Name: "w" + n, AppName: "app", FileRefs: []protocol.FileRef{{FileName: n}}}})
			db.Results.Put(tx, state.Key(project, "r"+n), state.Result{
				Project: project, Version: state.VersionKey(project, version), Slot: state.NoSlot, State: protocol.ClientDownloading,
				Result: protocol.Result{Name: "r" + n, WorkunitName: "w" + n, ReportDeadline: time.Date(2000, 1, 9, 0, 0, 0, 0, time.UTC)},
			})
		}
	}
	w := newWorld(t, demoURL, nil, func(db *state.DB, tx *state.Tx) {
		wants(db, tx, demoURL, "5d41402abc4b2a76b9719d911017c592", 5)
		wants(db, tx, slowURL, strings.Repeat("0", 32), 1e9)
	})
	w.transport = stalled{w.peer}
	must(t, settings.WriteAccount(w.dir, settings.Account{MasterURL: slowURL, Authenticator: "1", ResourceShare: 100}))
	w.configure(t, "max_file_xfers = 1\nmax_file_xfers_per_project = 1\n")
	w.run(func(t *testing.T) {
		w.after(t, 10*time.Minute)
		for _, n := range []string{"f1", "f2"} {
			if b, err := os.ReadFile(filepath.Join(w.dir, "projects", protocol.EscapeURL(demoURL), n)); string(b) != "hello" {
				t.Errorf("%s of the other project: %q, %v", n, b, err)
			}
		}
	})
}
