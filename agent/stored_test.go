package agent_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/decide/storage"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/state"
)

const md5Hello = "5d41402abc4b2a76b9719d911017c592"

// stored describes a file that a project wants stored.
func stored(name string) protocol.FileInfo {
	return protocol.FileInfo{Name: name, NBytes: 5, MD5: md5Hello, Sticky: true, DownloadURLs: []string{demoURL + "download/" + name}}
}

// orders returns a reply that makes an agent handle files and return in a minute.
func orders(files []protocol.FileInfo, deleted ...string) answer {
	r := protocol.SchedulerReply{RequestDelay: 30 * time.Second, NextRPCDelay: time.Minute, DeleteFiles: deleted}
	r.Files = files
	return answer{code: 200, body: r.Encode()}
}

// first returns orders for an agent without a host id.
func first(files ...protocol.FileInfo) answer {
	a := orders(files)
	a.body = []byte(strings.Replace(string(a.body), "<scheduler_reply>", "<scheduler_reply><hostid>7</hostid><project_name>Demo</project_name>", 1))
	return a
}

// here returns the record of a project after contact, with its stored files.
func here(files ...state.File) func(*state.DB, *state.Tx) {
	return func(db *state.DB, tx *state.Tx) {
		db.Projects.Put(tx, demoURL, state.Project{MasterURL: demoURL, Name: "Demo", SchedulerURLs: []string{demoURL + "cgi"}, HostID: 7, AttachedAt: time.Unix(1e9, 0), Contact: state.Contact{Initialized: true}})
		for _, f := range files {
			f.Project = demoURL
			db.Files.Put(tx, state.Key(demoURL, f.Name), f)
		}
	}
}

// lies reports whether a file is in the project's folder.
func (w *world) lies(name string) bool {
	_, err := os.Stat(filepath.Join(w.dir, "projects", protocol.EscapeURL(w.url), name))
	return err == nil
}

// listed returns the stored files in the last request: their names, sizes and states.
func (w *world) listed() (all string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, f := range w.requests[len(w.requests)-1].Files {
		all += fmt.Sprintf("%s %d %d;", f.Name, f.NBytes, f.Status)
	}
	return all
}

// A project can make an agent fetch a file that belongs to no task, keep it, upload it and remove
// it. An agent that is killed in between continues.
func TestFileOrders(t *testing.T) {
	t.Parallel()
	get := stored("archive")
	get.DownloadURLs, get.UploadURLs, get.MaxNBytes, get.XMLSignature = nil, []string{demoURL + "cgi/file_upload_handler"}, 10, "00\n.\n"
	answers := withMaster(t, demoURL, first(stored("archive")), orders(nil), orders([]protocol.FileInfo{get}), orders([]protocol.FileInfo{get}), orders(nil, "archive"), orders(nil))
	answers["archive"] = []answer{{code: 503}, {code: 503}, {code: 503}, {code: 200, body: []byte("hello")}}
	ok := func(size bool) answer {
		return answer{code: 200, body: protocol.UploadReply{HasSize: size}.Encode()}
	}
	answers[upload] = []answer{ok(true), {code: 503}, {code: 503}, {code: 503}, ok(true), ok(false)}
	w := newWorld(t, demoURL, answers, nil)
	w.tick = time.Minute // a removal is reported when the project is contacted in a later pass
	w.run(func(t *testing.T) {
		s := w.after(t, 50*time.Second)
		if len(s.Transfers) != 1 || s.Transfers[0].Upload || s.Transfers[0].Trouble == "" || s.Transfers[0].NextTry.IsZero() {
			t.Fatalf("a download that failed: %+v", s.Transfers)
		}
	})
	if n := len(w.requests[0].Files); n != 0 {
		t.Fatalf("%d files are listed at first", n)
	}
	w.run(func(t *testing.T) { // the next agent continues
		failing := func(s control.Status) bool {
			return len(s.Transfers) == 1 && s.Transfers[0].Upload && s.Transfers[0].Trouble != ""
		}
		s := w.after(t, 0)
		for range 20 * 60 { // its pauses are random, and it is over once an upload goes well
			if failing(s) {
				break
			}
			s = w.after(t, time.Second)
		}
		if !w.lies("archive") || !failing(s) {
			t.Fatalf("an upload that failed: %+v; asked %d times", s.Transfers, w.count(sched))
		}
	})
	w.run(func(t *testing.T) {
		for i := 0; w.lies("archive"); i++ {
			if w.after(t, 10*time.Second); i > 100 {
				t.Fatalf("the file is not removed; listed: %s", w.listed())
			}
		}
		w.after(t, 2*time.Minute)
		if got := w.listed(); got != "" {
			t.Errorf("listed after it was removed: %s", got)
		}
	})
	if n := w.count(upload); n < 6 {
		t.Errorf("the data server was asked %d times", n)
	}
	var all []string
	for _, r := range w.requests {
		if len(r.Files) > 0 {
			all = append(all, fmt.Sprint(r.Files[0].Name, " ", r.Files[0].NBytes, " ", r.Files[0].Status))
		}
	}
	if text := strings.Join(all, ";"); !strings.HasPrefix(text, "archive 5 0;") || !strings.Contains(text, "archive 5 1;") || strings.Contains(text, "-") {
		t.Errorf("listed: %s", text)
	}
}

// Orders that an agent does not follow have a reason, are reported to the server, and are not tried
// again and again.
func TestRefusedOrders(t *testing.T) {
	t.Parallel()
	large, lost, unknown := stored("large"), stored("lost"), stored("unknown")
	large.NBytes = 2e6
	unknown.DownloadURLs, unknown.UploadURLs = nil, []string{demoURL + "cgi/file_upload_handler"}
	have := unknown
	have.Name, have.MaxNBytes, have.XMLSignature = "have", 4, "00\n.\n"
	files := []protocol.FileInfo{large, lost, unknown, have}
	answers := withMaster(t, demoURL, orders(files))
	answers["lost"] = []answer{{code: 404}}
	kept := state.File{FileInfo: stored("have"), Local: state.FilePresent}
	w := newWorld(t, demoURL, answers, here(kept))
	w.account(settings.Account{MaxStickyGB: 0.001})
	w.file("have", "hello")
	w.run(func(t *testing.T) {
		w.after(t, time.Hour)
		p := w.project(t, 0)
		if p.Storage.Files != 1 || p.Storage.Bytes != 5 || len(p.Storage.Problems) != 3 {
			t.Fatalf("storage: %+v", p.Storage)
		}
		for i, want := range []string{
			"have: the file has 5 bytes, and the project takes at most 4 bytes",
			"large: the project's stored files may take 1 MB (max_sticky_gb in its account file)",
			"lost: The file is not on the project's server (HTTP 404 Not Found).",
		} {
			if got := p.Storage.Problems[i]; !strings.HasPrefix(got, want) {
				t.Errorf("%q, want %q", got, want)
			}
		}
	})
	if got := w.listed(); !strings.HasPrefix(got, "have 5 1;large 2000000 -131;lost 5 -") {
		t.Errorf("listed: %s", got)
	}
	golden(t, "testdata/stored.request.xml", topLevelFiles(w.raw))
	if n := w.count("lost"); n < 2 || n > 8 {
		t.Errorf("the lost file was asked for %d times within an hour of %d replies", n, w.count(sched))
	}
	if n := w.count("large") + w.count(upload); n != 0 {
		t.Errorf("%d transfers of what was refused", n)
	}
}

// topLevelFiles returns the lines of a request that list stored files.
func topLevelFiles(request []byte) (text string) {
	inside := false
	for line := range strings.Lines(string(request)) {
		inside = inside || strings.TrimSpace(line) == "<file_info>"
		if inside {
			text += line
		}
		inside = inside && strings.TrimSpace(line) != "</file_info>"
	}
	return text
}

// golden compares a text with a file, which UPDATE=1 writes.
func golden(t *testing.T, name, got string) {
	t.Helper()
	if os.Getenv("UPDATE") != "" {
		must(t, os.WriteFile(name, []byte(got), 0o600))
	}
	if want, err := os.ReadFile(name); err != nil || got != string(want) {
		t.Errorf("got:\n%s\n%v, want:\n%s", got, err, want)
	}
}

// account changes the account file.
func (w *world) account(a settings.Account) {
	w.t.Helper()
	a.MasterURL, a.Authenticator, a.ResourceShare = w.url, "00000000000000000000000000000001", 100
	text := fmt.Sprintf("master_url = %q\nauthenticator = %q\nresource_share = 100\nmax_sticky_gb = %v\n", a.MasterURL, string(a.Authenticator), a.MaxStickyGB)
	if err := os.WriteFile(settings.AccountPath(w.dir, w.url), []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// Files that an older version kept forever are adopted: their lifetimes begin, and missing ones are
// not listed.
func TestStoredFilesOfAnOlderVersion(t *testing.T) {
	t.Parallel()
	info := func(name string, lifetime time.Duration) state.File {
		f := state.File{FileInfo: stored(name), Local: state.FilePresent}
		f.StickyLifetime, f.DownloadURLs = lifetime, nil
		return f
	}
	w := newWorld(t, demoURL, withMaster(t, demoURL, orders(nil)), here(info("brief", time.Hour), info("for-ever", 0), info("removed", 0), info("cut", 0)))
	for _, name := range []string{"brief", "for-ever", "cut"} {
		w.file(name, "hello")
	}
	w.file("cut", "hell")
	w.run(func(t *testing.T) {
		w.after(t, 50*time.Minute)
		if got := w.listed(); got != "brief 5 1;for-ever 5 1;" {
			t.Errorf("listed: %s", got)
		}
		p := w.project(t, 20*time.Minute)
		if got := w.listed(); got != "for-ever 5 1;" || w.lies("brief") || !w.lies("for-ever") {
			t.Errorf("after the lifetime, listed: %s", got)
		}
		if s := p.Storage; s.Files != 1 || s.Bytes != 5 || len(s.Removed) != 1 || s.Removed[0].Name != "brief" || s.Removed[0].Code != string(storage.Expired) {
			t.Errorf("storage: %+v", s)
		}
	})
}

// The volunteer's limit applies from the time when it is set. The file that was used last stays.
func TestStorageLimit(t *testing.T) {
	t.Parallel()
	var files []state.File
	for i, name := range []string{"b", "c", "a"} {
		files = append(files, state.File{FileInfo: stored(name), Local: state.FilePresent, Used: time.Unix(1e9+int64(i), 0)})
	}
	w := newWorld(t, demoURL, withMaster(t, demoURL, orders(nil)), here(files...))
	w.tick = time.Minute // as above
	for _, f := range files {
		w.file(f.Name, "hello")
	}
	w.run(func(t *testing.T) {
		if s := w.project(t, time.Minute).Storage; s.Files != 3 {
			t.Fatalf("without a limit: %+v", s)
		}
	})
	must(t, os.WriteFile(filepath.Join(w.dir, "prefs.toml"), []byte("max_sticky_gb = 0.000000007\n"), 0o600))
	w.run(func(t *testing.T) {
		s := w.project(t, 3*time.Minute).Storage
		if s.Files != 1 || !w.lies("a") || w.lies("b") || w.lies("c") || w.listed() != "a 5 1;" {
			t.Errorf("with a limit: %+v; listed: %s", s, w.listed())
		}
		if len(s.Removed) != 2 || s.Removed[0].Code != string(storage.OverallLimit) || !strings.Contains(s.Removed[0].Why, "7 bytes") {
			t.Errorf("let go: %+v", s.Removed)
		}
	})
}

// A file that a task had in use until now counts as used now: another goes before it.
func TestLimitIsKeptWithHugeFiles(t *testing.T) {
	t.Parallel()
	var needed []state.File
	for _, name := range []string{"a", "b"} {
		f := state.File{FileInfo: stored(name), Retry: state.Retry{NextTry: time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC)}}
		f.NBytes = 1 << 62
		needed = append(needed, f)
	}
	w := newWorld(t, demoURL, withMaster(t, demoURL, orders([]protocol.FileInfo{stored("c")})), func(db *state.DB, tx *state.Tx) {
		here(needed...)(db, tx)
		db.Units.Put(tx, state.Key(demoURL, "w"), state.Workunit{Project: demoURL, Workunit: protocol.Workunit{Name: "w", FileRefs: []protocol.FileRef{{FileName: "a"}, {FileName: "b"}}}})
		db.Results.Put(tx, state.Key(demoURL, "w_0"), state.Result{Project: demoURL, Slot: state.NoSlot, State: protocol.ClientDownloading, Result: protocol.Result{Name: "w_0", WorkunitName: "w"}})
	})
	w.account(settings.Account{MaxStickyGB: 1})
	w.run(func(t *testing.T) {
		w.after(t, time.Hour)
		if p := w.project(t, 0); len(p.Storage.Problems) != 1 || !strings.HasPrefix(p.Storage.Problems[0], "c: the project's stored files may take 1 GB") {
			t.Errorf("storage: %+v", p.Storage)
		}
	})
}

func TestAFileIsUsedUntilItsTaskIsForgotten(t *testing.T) {
	t.Parallel()
	long := time.Unix(9e8, 0) // before the time that it is in the bubble
	mine := state.File{FileInfo: stored("mine"), Local: state.FilePresent, Used: long}
	other := state.File{FileInfo: stored("other"), Local: state.FilePresent, Used: long.Add(time.Hour)}
	w := newWorld(t, demoURL, withMaster(t, demoURL, orders(nil)), func(db *state.DB, tx *state.Tx) {
		here(mine, other)(db, tx)
		db.Units.Put(tx, state.Key(demoURL, "w"), state.Workunit{Project: demoURL, Workunit: protocol.Workunit{Name: "w", FileRefs: []protocol.FileRef{{FileName: "mine"}}}})
	})
	w.file("mine", "hello")
	w.file("other", "hello")
	w.run(func(t *testing.T) { w.after(t, time.Minute) }) // the workunit does not have a result
	must(t, os.WriteFile(filepath.Join(w.dir, "prefs.toml"), []byte("max_sticky_gb = 0.000000007\n"), 0o600))
	w.run(func(t *testing.T) { w.after(t, time.Minute) })
	if !w.lies("mine") || w.lies("other") {
		t.Errorf("the file that was used last is here: %v; the other: %v", w.lies("mine"), w.lies("other"))
	}
}

// When the disk is full, stored files make room, and computing resumes.
func TestFullDiskLetsStoredFilesGo(t *testing.T) {
	t.Parallel()
	big := state.File{FileInfo: stored("big"), Local: state.FilePresent}
	big.NBytes = 3e6
	w := newWorld(t, demoURL, withMaster(t, demoURL, orders(nil)), here(big))
	w.file("big", strings.Repeat("x", 3e6))
	must(t, os.WriteFile(filepath.Join(w.dir, "prefs.toml"), []byte("disk_max_used_gb = 0.002\nsuspend_cpu_usage = 0\nrun_on_batteries = true\n"), 0o600))
	w.run(func(t *testing.T) {
		s := w.after(t, 7*time.Minute)
		if w.lies("big") || s.Compute != "" {
			t.Errorf("%s; storage: %+v", s.Compute, s.Projects[0].Storage)
		}
	})
}

// If a person aborts a transfer that a project ordered, it stays aborted for a day.
func TestAbortedOrder(t *testing.T) {
	t.Parallel()
	answers := withMaster(t, demoURL, orders([]protocol.FileInfo{stored("archive")}))
	answers["archive"] = []answer{{code: http.StatusServiceUnavailable}}
	w := newWorld(t, demoURL, answers, here())
	w.run(func(t *testing.T) {
		must(t, w.a.SteerProject(t.Context(), demoURL, control.UpdateProject))
		if s := w.after(t, time.Minute); len(s.Transfers) != 1 {
			t.Fatalf("transfers: %+v", s.Transfers)
		}
		must(t, w.a.SteerTransfer(t.Context(), demoURL, "archive", true))
		before := w.count("archive")
		if s := w.after(t, 20*time.Hour); len(s.Transfers) != 0 || w.count("archive") != before {
			t.Errorf("tried %d times more: %+v", w.count("archive")-before, s.Transfers)
		}
		if w.after(t, 8*time.Hour); w.count("archive") == before {
			t.Error("not tried again after a day")
		}
	})
}
