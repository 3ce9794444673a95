package scheduler_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/scheduler"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/store/storetest"
)

const captures = "../../protocol/testdata/captures/upstream-server/"

// A world is a scheduler with one application and its database.
type world struct {
	*storetest.World
	t     *testing.T
	store *store.Store
	s     *scheduler.Scheduler
	now   time.Time
}

func newWorld(t *testing.T) *world {
	t.Helper()
	once.Do(func() { empty, filled = makeEmpty(t) })
	path := filepath.Join(t.TempDir(), "project.db")
	if err := os.WriteFile(path, empty, 0o600); err != nil {
		t.Fatal(err)
	}
	st, err := store.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	w := filled
	b := &world{World: &w, t: t, store: st, now: storetest.T0, s: &scheduler.Scheduler{
		Store: st, Log: slog.New(slog.DiscardHandler),
		Config: scheduler.Config{
			Name: "Bench", MasterURL: "http://127.0.0.1:8180/bench/", DownloadURL: "http://127.0.0.1:8180/bench/download/",
			UploadURL: "http://127.0.0.1:8180/bench/file_upload_handler", CodeSignKey: "1024\nab\n.\n",
			OldKeys:           []scheduler.OldKey{{Text: "1024\ncd\n.\n", Signature: "ef\n.\n"}},
			ResendLostResults: true, SendResultAbort: true,
		},
	}}
	b.addVersion("x86_64-pc-linux-gnu", 100, false)
	return b
}

// The database with which each test begins is made once and copied.
var (
	once   sync.Once
	empty  []byte
	filled storetest.World
)

func makeEmpty(t *testing.T) ([]byte, storetest.World) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "project.db")
	st, err := store.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	w := storetest.Fill(t, st)
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b, w
}

func (w *world) update(fn func(tx *store.Tx) error) {
	w.t.Helper()
	if err := w.store.Update(w.t.Context(), fn); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) addVersion(platform string, number int, plain bool) {
	w.t.Helper()
	name := fmt.Sprintf("upper_%d_%s", number, platform)
	doc := protocol.FileInfo{Name: name, NBytes: 10, Executable: true, Signature: "aa\n."}.XML() +
		protocol.AppVersion{FileRefs: []protocol.FileRef{{FileName: name, MainProgram: true}}}.XML()
	w.update(func(tx *store.Tx) error {
		p, err := tx.EnsurePlatform(store.Platform{Name: platform}, w.now)
		if err != nil {
			return err
		}
		_, err = tx.InsertAppVersion(store.AppVersion{AppID: w.App.ID, VersionNum: number, Platform: p, XMLDoc: doc, Plain: plain})
		return err
	})
}

// addWork stores a workunit with n unsent results.
func (w *world) addWork(name string, n int, change ...func(*store.Workunit)) {
	w.t.Helper()
	wu := w.Workunit(name)
	in := protocol.FileInfo{Name: "in_1", NBytes: 5, MD5: "5d41402abc4b2a76b9719d911017c592"}
	wu.XMLDoc = in.XML() + protocol.Workunit{
		Name: name, AppName: "upper", FileRefs: []protocol.FileRef{{FileName: "in_1", OpenName: "in"}},
		RscFpopsEst: wu.RscFpopsEst, RscFpopsBound: wu.RscFpopsBound,
	}.XML()
	for _, c := range change {
		c(&wu)
	}
	w.update(func(tx *store.Tx) error {
		id, err := tx.InsertWorkunit(wu, []string{"in_1"})
		if err != nil {
			return err
		}
		for i := range n {
			r := fmt.Sprintf("%s_%d", name, i)
			doc := protocol.FileInfo{Name: r + "_r5_0", GeneratedLocally: true, MaxNBytes: 99, XMLSignature: "bb\n."}.XML() +
				protocol.Result{Name: r, WorkunitName: name, FileRefs: []protocol.FileRef{{FileName: r + "_r5_0", OpenName: "out"}}}.XML()
			if _, err := tx.InsertResult(store.Result{WorkunitID: id, AppID: w.App.ID, Name: r, XMLDocIn: doc, ServerState: store.Unsent}); err != nil {
				return err
			}
		}
		return nil
	})
}

// send sends a request and returns the reply as a client sees it.
func (w *world) send(req []byte) *protocol.SchedulerReply {
	w.t.Helper()
	reply, err := w.s.Handle(w.t.Context(), req, "192.0.2.1", w.now)
	if err != nil {
		w.t.Fatal(err)
	}
	got, err := protocol.ParseSchedulerReply(reply.Encode())
	if err != nil {
		w.t.Fatal(err)
	}
	return got
}

func (w *world) result(name string) (r store.Result) {
	w.t.Helper()
	w.update(func(tx *store.Tx) (err error) {
		r, err = tx.ResultByName(name)
		return err
	})
	return r
}

// capture returns a request that the real client's was made into, with changes
// in pairs of old and new text.
func capture(t *testing.T, name string, changes ...string) []byte {
	t.Helper()
	b, err := os.ReadFile(captures + name + ".request.xml")
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(changes); i += 2 {
		if !bytes.Contains(b, []byte(changes[i])) {
			t.Fatalf("%s does not hold %q", name, changes[i])
		}
		b = bytes.ReplaceAll(b, []byte(changes[i]), []byte(changes[i+1]))
	}
	return b
}

func names[T any](list []T, name func(T) string) (out []string) {
	for _, v := range list {
		out = append(out, name(v))
	}
	return out
}

func resultName(r protocol.Result) string { return r.Name }

func texts(r *protocol.SchedulerReply) string {
	return strings.Join(names(r.Messages, func(m protocol.Message) string { return m.Priority + ": " + m.Text }), "\n")
}

// first is a first contact that asks for a day of work.
func (w *world) first() *protocol.SchedulerReply {
	w.t.Helper()
	return w.send(capture(w.t, "01-first-contact-with-work"))
}

// as makes a later request of the host that first introduced.
func (w *world) as(host int64, seqno int, name string, changes ...string) *protocol.SchedulerReply {
	w.t.Helper()
	req := string(capture(w.t, name, changes...))
	for tag, v := range map[string]int64{"hostid": host, "rpc_seqno": int64(seqno)} {
		i, j := strings.Index(req, "<"+tag+">"), strings.Index(req, "</"+tag+">")
		req = req[:i] + fmt.Sprintf("<%s>%d", tag, v) + req[j:]
	}
	return w.send([]byte(req))
}

func TestFirstContact(t *testing.T) {
	w := newWorld(t)
	w.addWork("tt_1117", 1)
	w.addWork("tt_1118", 1)
	got := w.first()
	switch {
	case got.HostID == 0:
		t.Error("no host id")
	case got.SchedulerVersion != 803 || !got.DontUseDCF || got.MasterURL != "http://127.0.0.1:8180/bench/" || got.ProjectName != "Bench":
		t.Errorf("head: %+v", got)
	case got.User == nil || got.User.Name != "Ada" || got.User.EmailHash != protocol.EmailHash("a@example.org"):
		t.Errorf("user: %+v", got.User)
	case got.CodeSignKey == "" || got.CodeSignKeySignature != "":
		t.Errorf("key %q, signature %q", got.CodeSignKey, got.CodeSignKeySignature)
	case got.Host.Venue != nil:
		t.Error("an empty venue would clear the client's")
	case got.RequestDelay <= 0:
		t.Error("no request_delay")
	case len(got.Apps) != 1 || len(got.AppVersions) != 1 || len(got.Workunits) != 2:
		t.Errorf("%d apps, %d versions, %d workunits", len(got.Apps), len(got.AppVersions), len(got.Workunits))
	}
	if want := []string{"tt_1117_0", "tt_1118_0"}; !slices.Equal(names(got.Results, resultName), want) {
		t.Errorf("got %v, want %v", names(got.Results, resultName), want)
	}
	files := make(map[string]protocol.FileInfo)
	for _, f := range got.Files {
		if _, twice := files[f.Name]; twice {
			t.Errorf("file %s is named twice", f.Name)
		}
		files[f.Name] = f
	}
	in := files["in_1"]
	if want := "http://127.0.0.1:8180/bench/download/" + protocol.DirHash("in_1", 1024) + "/in_1"; len(in.DownloadURLs) != 1 || in.DownloadURLs[0] != want {
		t.Errorf("got %v, want %s", in.DownloadURLs, want)
	}
	out := files["tt_1117_0_r5_0"]
	if len(out.UploadURLs) != 1 || out.MaxNBytes != 99 || out.XMLSignature == "" {
		t.Errorf("output file: %+v", out)
	}
	r := got.Results[0]
	if !r.ReportDeadline.Equal(w.now.Add(time.Hour)) || r.Platform != "x86_64-pc-linux-gnu" || r.VersionNum != 100 {
		t.Errorf("result: %+v", r)
	}
	if db := w.result("tt_1117_0"); db.ServerState != store.InProgress || db.HostID != got.HostID || !db.ReportDeadline.Equal(r.ReportDeadline) {
		t.Errorf("in the database: %+v", db)
	}
}

func TestWhoIsIt(t *testing.T) {
	w := newWorld(t)
	host := w.first().HostID
	t.Run("a known host is not told its id again", func(t *testing.T) {
		if got := w.as(host, 0, "07-report-one-ok"); got.HostID != 0 {
			t.Errorf("hostid %d", got.HostID)
		}
		w.as(host, 5, "07-report-one-ok")
	})
	t.Run("the same sequence number is accepted", func(t *testing.T) {
		if got := w.as(host, 5, "07-report-one-ok"); got.HostID != 0 {
			t.Errorf("hostid %d", got.HostID)
		}
	})
	t.Run("an older sequence number makes a new host", func(t *testing.T) {
		if got := w.as(host, 4, "11-old-seqno"); got.HostID == 0 || got.HostID == host {
			t.Errorf("hostid %d, want a new one", got.HostID)
		}
	})
	t.Run("an unknown host id finds the host by its looks", func(t *testing.T) {
		got := w.as(999999, 1, "12-unknown-hostid")
		if got.HostID == 0 || texts(got) != "low: Can't find host record" {
			t.Errorf("hostid %d, %s", got.HostID, texts(got))
		}
	})
	t.Run("another account's host becomes a new one", func(t *testing.T) {
		w.update(func(tx *store.Tx) error {
			u := w.User
			u.EmailAddr, u.Authenticator = "b@example.org", "00000000000000000000000000000002"
			_, err := tx.InsertUser(u)
			return err
		})
		got := w.as(host, 9, "07-report-one-ok", "<authenticator>00000000000000000000000000000001", "<authenticator>00000000000000000000000000000002")
		if got.HostID == 0 || got.HostID == host {
			t.Errorf("hostid %d, want a new one", got.HostID)
		}
	})
	t.Run("a merged host is led to its successor", func(t *testing.T) {
		merged := host + 100
		w.update(func(tx *store.Tx) error {
			var id int64
			for id < merged {
				var err error
				if id, err = tx.InsertHost(store.Host{UserID: 0}); err != nil {
					return err
				}
			}
			old, err := tx.Host(id)
			if err != nil {
				return err
			}
			return tx.UpdateHost(old, store.Host{ID: id, RPCSeqno: host})
		})
		if got := w.as(merged, 3, "07-report-one-ok"); got.HostID != host {
			t.Errorf("hostid %d, want %d", got.HostID, host)
		}
	})
	t.Run("a weak key is good enough", func(t *testing.T) {
		weak := protocol.WeakKey(w.User.ID, w.User.Authenticator, w.User.PasswdHash)
		got := w.as(host, 50, "07-report-one-ok", "<authenticator>00000000000000000000000000000001", "<authenticator>"+weak)
		if got.User == nil || got.User.ID != w.User.ID {
			t.Errorf("user %+v: %s", got.User, texts(got))
		}
	})
	for _, key := range []string{"10000000000000000000000000000001", "1_00000000000000000000000000000000", "x_", "_", ""} {
		t.Run("unknown key "+key, func(t *testing.T) {
			got := w.as(host, 51, "07-report-one-ok", "<authenticator>00000000000000000000000000000001", "<authenticator>"+key)
			if got.User != nil || got.RequestDelay != time.Hour ||
				texts(got) != `notice: _("Invalid or missing account key.  To fix, remove and add this project.")` {
				t.Errorf("user %+v, delay %v, %s", got.User, got.RequestDelay, texts(got))
			}
			if len(got.ResultAcks) != 0 {
				t.Error("a stranger's results are acknowledged")
			}
		})
	}
}

// The client that lost its state, or whose first reply was lost, comes as a new
// one; what it had is given up so that others can do it.
func TestReattach(t *testing.T) {
	w := newWorld(t)
	w.addWork("a", 1)
	host := w.first().HostID
	again := w.first()
	if again.HostID != host {
		t.Errorf("hostid %d, want %d again", again.HostID, host)
	}
	if r := w.result("a_0"); r.Outcome != store.ClientDetached {
		t.Errorf("outcome %v, want client_detached", r.Outcome)
	}
}

func TestReports(t *testing.T) {
	w := newWorld(t)
	w.addWork("tt_1117", 1)
	w.addWork("tt_1118", 1)
	host := w.first().HostID
	w.now = w.now.Add(time.Minute)

	got := w.as(host, 1, "07-report-one-ok")
	if want := []string{"tt_1117_0"}; !slices.Equal(got.ResultAcks, want) {
		t.Errorf("acks %v, want %v", got.ResultAcks, want)
	}
	ok := w.result("tt_1117_0")
	if ok.ServerState != store.Over || ok.Outcome != store.Success || ok.ValidateState != store.ValidateInit || !ok.ReceivedTime.Equal(w.now) {
		t.Errorf("good result: %+v", ok)
	}
	w.update(func(tx *store.Tx) error {
		wu, err := tx.Workunit(ok.WorkunitID)
		if wu.TransitionTime.After(w.now) {
			t.Error("the transitioner is not told")
		}
		return err
	})
	w.as(host, 2, "08-report-error")
	if r := w.result("tt_1118_0"); r.Outcome != store.ClientError || r.ValidateState != store.Invalid || r.ExitStatus != 42 {
		t.Errorf("failed result: %+v", r)
	}
	w.now = w.now.Add(time.Minute)
	got = w.as(host, 3, "09-report-again-and-unknown")
	if want := []string{"tt_1117_0", "never_heard_of_0"}; !slices.Equal(got.ResultAcks, want) {
		t.Errorf("acks %v, want %v", got.ResultAcks, want)
	}
	if again := w.result("tt_1117_0"); again != ok {
		t.Errorf("a second report changed the result: %+v", again)
	}
}

func TestLateReports(t *testing.T) {
	for _, outcome := range []store.Outcome{store.NoReply, store.ClientDetached} {
		t.Run(outcome.String(), func(t *testing.T) {
			w := newWorld(t)
			w.addWork("tt_1117", 1)
			host := w.first().HostID
			w.update(func(tx *store.Tx) error {
				old, err := tx.ResultByName("tt_1117_0")
				if err != nil {
					return err
				}
				r := old
				r.ServerState, r.Outcome, r.FileDeleteState = store.Over, outcome, store.DeleteDone
				return storetest.SaveResult(tx, old, r)
			})
			w.as(host, 1, "07-report-one-ok")
			if r := w.result("tt_1117_0"); r.Outcome != store.Success || r.FileDeleteState != store.DeleteInit {
				t.Errorf("got %v, files %v; want it accepted and its files to be deleted again", r.Outcome, r.FileDeleteState)
			}
		})
	}
	t.Run("another user's result is acknowledged and left alone", func(t *testing.T) {
		w := newWorld(t)
		w.addWork("tt_1117", 1)
		w.first()
		w.update(func(tx *store.Tx) error {
			u := w.User
			u.EmailAddr, u.Authenticator = "b@example.org", "00000000000000000000000000000002"
			_, err := tx.InsertUser(u)
			return err
		})
		got := w.as(0, 0, "07-report-one-ok", "<authenticator>00000000000000000000000000000001", "<authenticator>00000000000000000000000000000002")
		if len(got.ResultAcks) != 1 || w.result("tt_1117_0").ServerState != store.InProgress {
			t.Errorf("acks %v, state %v", got.ResultAcks, w.result("tt_1117_0").ServerState)
		}
	})
}

func TestWhyNoWork(t *testing.T) {
	plenty := func(w *world) { w.addWork("a", 3); w.addWork("b", 3) }
	for _, tt := range []struct {
		name    string
		prepare func(w *world)
		changes []string
		want    string // messages
		sent    int
		delay   time.Duration // 0: any
	}{
		{"nothing to send", func(*world) {}, nil, "low: No tasks sent\nlow: Project has no tasks available", 0, 0},
		{"asked to send none", plenty, []string{"<dont_send_work>0", "<dont_send_work>1"}, "", 0, 0},
		{"no work asked for", plenty, []string{">86400<", ">0<"}, "", 0, 0},
		{
			"another platform", plenty,
			[]string{"x86_64-pc-linux-gnu", "z80-cpm"},
			`notice: _("This project doesn't support computers of type") z80-cpm`, 0, 24 * time.Hour,
		},
		{"an alternative platform", plenty, []string{
			"<platform_name>x86_64-pc-linux-gnu</platform_name>",
			"<platform_name>z80-cpm</platform_name><alt_platform><name>x86_64-pc-linux-gnu</name></alt_platform>",
		}, "", 6, 0},
		{
			"a version only for another platform", func(w *world) {
				w.addVersion("windows_x86_64", 100, false)
				w.update(func(tx *store.Tx) error {
					_, err := tx.InsertApp(store.App{Name: "other", Validator: "trivial", Assimilator: "copy"})
					return err
				})
				w.addWork("a", 1, func(wu *store.Workunit) { wu.AppID++ })
				w.update(func(tx *store.Tx) error {
					_, err := tx.InsertResult(store.Result{WorkunitID: 1, AppID: w.App.ID + 1, Name: "x", ServerState: store.Unsent})
					return err
				})
				w.update(func(tx *store.Tx) error {
					old, err := tx.ResultByName("a_0")
					if err != nil {
						return err
					}
					r := old
					r.ServerState, r.Outcome = store.Over, store.DidntNeed
					return tx.SaveResult(old, r)
				})
			}, nil, "low: No tasks sent\nlow: Tasks are left only of applications that have no version for this computer", 0, 0,
		},
		{"the limit an RPC", func(w *world) { plenty(w); w.s.Config.MaxWusToSend = 2 }, nil, "", 4, 0},
		{"the limit counts so many CPUs", func(w *world) { plenty(w); w.s.Config.MaxWusToSend, w.s.Config.MaxNCPUs = 2, 1 }, nil, "", 2, 0},
		{"the limit in progress", func(w *world) { plenty(w); w.s.Config.MaxWusInProgress = 1 }, nil, "", 2, 0},
		{"the daily quota", func(w *world) { plenty(w); w.s.Config.DailyResultQuota = 1 }, nil, "", 2, 0},
		{"one result a user", func(w *world) { plenty(w); w.s.Config.OneResultPerUserPerWU = true }, nil, "", 2, 0},
		{"one result a host", func(w *world) { plenty(w); w.s.Config.OneResultPerHostPerWU = true }, nil, "", 2, 0},
		{"only what fills the request", plenty, []string{">86400<", ">1.5<"}, "", 2, 0},
		{
			"too much memory", func(w *world) { w.addWork("a", 1, func(wu *store.Workunit) { wu.RscMemoryBound = 1e15 }) },
			nil, "low: No tasks sent\nlow: Tasks need more memory than this computer allows (upper: needs 931322.57 GB, allowed 21.19 GB)", 0, 0,
		},
		{
			"too much disk", func(w *world) { w.addWork("a", 1, func(wu *store.Workunit) { wu.RscDiskBound = 1e18 }) },
			nil, "low: No tasks sent\nlow: Tasks need more disk space than this computer allows (upper: needs 931322574.62 GB, allowed 5.00 GB)", 0, 0,
		},
		{
			"a busy host that would be late", plenty,
			[]string{"<estimated_delay>0.0", "<estimated_delay>9999.0"},
			"low: No tasks sent\nlow: Tasks would not finish in time on this computer (upper: needs 2h46m40s, allowed 1h0m0s)", 0, 0,
		},
		{
			"a workunit that is done", func(w *world) { w.addWork("a", 1); w.cancel("a") }, nil,
			"low: No tasks sent\nlow: Project has no tasks available", 0, 0,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			tt.prepare(w)
			got := w.send(capture(t, "01-first-contact-with-work", tt.changes...))
			if texts(got) != tt.want || len(got.Results) != tt.sent || tt.delay != 0 && got.RequestDelay != tt.delay {
				t.Errorf("got %d results, delay %v, %q; want %d, %v, %q",
					len(got.Results), got.RequestDelay, texts(got), tt.sent, tt.delay, tt.want)
			}
		})
	}
}

func (w *world) cancel(name string) {
	w.update(func(tx *store.Tx) error {
		old, err := tx.WorkunitByName(name)
		if err != nil {
			return err
		}
		wu := old
		wu.ErrorMask = store.ErrorCancelled
		return tx.SaveWorkunit(old, wu)
	})
}

func TestTooRecent(t *testing.T) {
	w := newWorld(t)
	w.s.Config.MinSendworkInterval = 10 * time.Second
	w.addWork("a", 1)
	host := w.send(capture(t, "01-first-contact-with-work", "<dont_send_work>0", "<dont_send_work>1")).HostID
	w.now = w.now.Add(4 * time.Second)
	got := w.as(host, 1, "15-too-soon-asks-work")
	if texts(got) != "low: Not sending work. Last request too recent. Please wait 6 seconds." || len(got.Results) != 0 {
		t.Errorf("got %d results, %q", len(got.Results), texts(got))
	}
	if got.RequestDelay != 11*time.Second {
		t.Errorf("delay %v, want 11 s", got.RequestDelay)
	}
	w.now = w.now.Add(11 * time.Second)
	if got := w.as(host, 2, "15-too-soon-asks-work"); len(got.Results) != 1 {
		t.Errorf("after the wait: %d results, %q", len(got.Results), texts(got))
	}
}

func TestKeys(t *testing.T) {
	for _, tt := range []struct{ name, key, want, signature string }{
		{"none", "", "1024\nab\n.", ""},
		{"ours", "1024\r\nAB\n.", "", ""},
		{"a former one", "1024\ncd\n.", "1024\nab\n.", "ef\n."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.addWork("a", 1)
			got := w.send(capture(t, "01-first-contact-with-work", "</hostid>", "</hostid><code_sign_key>"+tt.key+"</code_sign_key>"))
			if strings.TrimSpace(got.CodeSignKey) != tt.want || strings.TrimSpace(got.CodeSignKeySignature) != tt.signature || len(got.Results) != 1 {
				t.Errorf("key %q, signature %q, %d results", got.CodeSignKey, got.CodeSignKeySignature, len(got.Results))
			}
		})
	}
	t.Run("a foreign one", func(t *testing.T) {
		w := newWorld(t)
		w.addWork("a", 1)
		got := w.send(capture(t, "01-first-contact-with-work", "</hostid>", "</hostid><code_sign_key>1024 ff</code_sign_key>"))
		if got.CodeSignKey != "" || len(got.Results) != 0 || !strings.Contains(texts(got), "security key") {
			t.Errorf("key %q, %d results, %q", got.CodeSignKey, len(got.Results), texts(got))
		}
	})
}

// A reply that was lost on its way: the host does not have what it was sent.
func TestLostResultsAreSentAgain(t *testing.T) {
	w := newWorld(t)
	w.addWork("a", 1)
	w.addWork("b", 1)
	host := w.first().HostID
	w.addWork("c", 1)
	w.cancel("b")
	w.now = w.now.Add(50 * time.Minute)
	got := w.as(host, 1, "15-too-soon-asks-work")
	if want := []string{"a_0"}; !slices.Equal(names(got.Results, resultName), want) {
		t.Fatalf("got %v, want %v: lost results come first, and alone", names(got.Results, resultName), want)
	}
	if want := w.now.Add(30 * time.Minute); !got.Results[0].ReportDeadline.Equal(want) || !w.result("a_0").ReportDeadline.Equal(want) {
		t.Errorf("deadline %v, want %v", got.Results[0].ReportDeadline, want)
	}
	if r := w.result("b_0"); !r.ReportDeadline.Before(w.now) {
		t.Errorf("a lost result that nobody needs has the deadline %v", r.ReportDeadline)
	}
	other := "<other_results><other_result><name>a_0</name></other_result><other_result><name>b_0</name></other_result></other_results></scheduler_request>"
	got = w.as(host, 2, "15-too-soon-asks-work", "</scheduler_request>", other)
	if want := []string{"c_0"}; !slices.Equal(names(got.Results, resultName), want) {
		t.Errorf("got %v, want %v", names(got.Results, resultName), want)
	}
	if want := []string{"b_0"}; !slices.Equal(got.ResultAborts, want) {
		t.Errorf("aborts %v, want %v", got.ResultAborts, want)
	}
}

func TestPlainProgramsGetCopies(t *testing.T) {
	w := newWorld(t)
	w.addVersion("x86_64-pc-linux-gnu", 101, true)
	w.addWork("a", 1)
	got := w.first()
	if got.AppVersions[0].VersionNum != 101 {
		t.Errorf("version %d, want the newest", got.AppVersions[0].VersionNum)
	}
	if !got.Workunits[0].FileRefs[0].CopyFile || !got.Results[0].FileRefs[0].CopyFile {
		t.Error("files of a plain program are links")
	}
}

func TestErrorsLowerTheQuota(t *testing.T) {
	w := newWorld(t)
	w.s.Config.DailyResultQuota = 4
	w.addWork("tt_1118", 1)
	host := w.first().HostID
	version := w.result("tt_1118_0").AppVersionID
	quota := func() (n int) {
		w.update(func(tx *store.Tx) error {
			h, err := tx.HostAppVersion(host, version)
			n = h.MaxJobsPerDay
			return err
		})
		return n
	}
	w.as(host, 1, "08-report-error")
	if got := quota(); got != 3 {
		t.Errorf("after an error: %d, want 3", got)
	}
}

func TestNotARequest(t *testing.T) {
	w := newWorld(t)
	for _, body := range []string{"", "hello", "<scheduler_request>", string(capture(t, "14-not-xml"))} {
		got := w.send([]byte(body))
		if !strings.HasPrefix(texts(got), "low: Error in request message") || got.User != nil || got.ProjectName != "Bench" {
			t.Errorf("%.20q: %+v", body, got)
		}
	}
}

// Every request that the real clients sent in the captures gets an answer that
// clients can read.
func TestRealRequests(t *testing.T) {
	files, err := filepath.Glob("../../protocol/testdata/captures/*/*/*scheduler.request.http")
	if err != nil || len(files) < 20 {
		t.Fatalf("%d requests, %v", len(files), err)
	}
	w := newWorld(t)
	w.addWork("a", 5)
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		_, body, _ := bytes.Cut(bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n")), []byte("\n\n"))
		body = bytes.Replace(body, []byte("9aba8a57a1d5e26a5ca9e5b35f8d2a44"), []byte(w.User.Authenticator), 1)
		if got := w.send(body); got.User == nil {
			t.Errorf("%s: %s", f, texts(got))
		}
		w.now = w.now.Add(time.Minute)
	}
}
