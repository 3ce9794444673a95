package scheduler_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/starling-grid/starling/internal/testerr"
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
	must(t, os.WriteFile(path, empty, 0o600))
	st, err := store.Open(t.Context(), path)
	must(t, err)
	t.Cleanup(func() { _ = st.Close() })
	w := filled
	b := &world{World: &w, t: t, store: st, now: storetest.T0, s: &scheduler.Scheduler{
		Store: st, Log: slog.New(slog.DiscardHandler),
		Config: scheduler.Config{
			Name: "Bench", MasterURL: "http://127.0.0.1:8180/bench/", DownloadURL: "http://127.0.0.1:8180/bench/download/",
			UploadURL: "http://127.0.0.1:8180/bench/file_upload_handler", CodeSignKey: "1024\nab\n.\n",
			OldKeys:  []scheduler.OldKey{{Text: "1024\ncd\n.\n", Signature: "ef\n.\n"}},
			Settings: scheduler.Settings{ResendLostResults: true, SendResultAbort: true},
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
	must(t, err)
	w := storetest.Fill(t, st)
	must(t, st.Close())
	b, err := os.ReadFile(path)
	must(t, err)
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
	w.addVersionOf(w.App.ID, platform, number, plain)
}

func (w *world) addVersionOf(app int64, platform string, number int, plain bool) {
	w.t.Helper()
	name := fmt.Sprintf("upper_%d_%s", number, platform)
	doc := protocol.FileInfo{Name: name, NBytes: 10, Executable: true, Signature: "aa\n."}.XML() +
		protocol.AppVersion{FileRefs: []protocol.FileRef{{FileName: name, MainProgram: true}}}.XML()
	w.update(func(tx *store.Tx) error {
		_, err := storetest.AddVersion(tx, platform, store.AppVersion{AppID: app, VersionNum: number, XMLDoc: doc, Plain: plain})
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
		id, err := storetest.InsertWorkunit(tx, wu, "in_1")
		if err != nil {
			return err
		}
		for i := range n {
			r := fmt.Sprintf("%s_%d", name, i)
			doc := protocol.FileInfo{Name: r + "_r5_0", GeneratedLocally: true, MaxNBytes: 99, XMLSignature: "bb\n."}.XML() +
				protocol.Result{Name: r, WorkunitName: name, FileRefs: []protocol.FileRef{{FileName: r + "_r5_0", OpenName: "out"}}}.XML()
			if err := tx.AddResult(store.Result{WorkunitID: id, AppID: w.App.ID, Name: r, XMLDocIn: doc, ServerState: store.Unsent, Kind: wu.Kind(), Priority: wu.Priority, CreateTime: w.now}); err != nil {
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

func (w *world) result(name string) store.Result {
	w.t.Helper()
	return storetest.Get(w.t, w.store, (*store.View).ResultByName, name)
}

// capture returns a request that the real client's was made into, with changes
// in pairs of old and new text.
func capture(t *testing.T, name string, changes ...string) []byte {
	t.Helper()
	b, err := os.ReadFile(captures + name + ".request.xml")
	must(t, err)
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

func (w *world) cancel(name string) {
	w.update(func(tx *store.Tx) error {
		return store.Change(tx.WorkunitByName, name, tx.SaveWorkunit, func(wu *store.Workunit) {
			wu.ErrorMask = store.ErrorCancelled
		})
	})
}

var must = testerr.Must
