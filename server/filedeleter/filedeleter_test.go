package filedeleter_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/internal/testerr"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/blob"
	"github.com/starling-grid/starling/server/filedeleter"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/store/storetest"
)

// Files that cannot be deleted are recorded, and tried again an hour later.
func TestRetry(t *testing.T) {
	dir := t.TempDir()
	st := storetest.Open(t, dir)
	files := func(name string) *blob.Dir {
		d, err := blob.Open(filepath.Join(dir, name))
		must(t, err)
		t.Cleanup(func() { _ = d.Close() })
		return d
	}
	download := files("download")
	d := &filedeleter.Deleter{Store: st, Log: slog.New(slog.DiscardHandler), Download: download, Upload: files("upload")}
	w := storetest.Fill(t, st)
	wu := w.Workunit("wu")
	wu.XMLDoc = protocol.FileInfo{Name: "in", NBytes: 1, MD5: "x"}.XML()
	wu, _ = storetest.Add(t, st, wu, 0)
	// A folder with something in it cannot be removed like a file.
	obstacle := filepath.Join(dir, "download", filepath.FromSlash(blob.Path("in")), "x")
	must(t, os.MkdirAll(obstacle, 0o700))
	if _, err := download.Put(t.Context(), "other", strings.NewReader("x")); err != nil {
		t.Fatal(err)
	}
	storetest.Update(t, st, func(tx *store.Tx) error {
		after := wu
		after.AssimilateState, after.FileDeleteState = store.AssimilateDone, store.DeleteReady
		return storetest.SaveWorkunit(tx, wu, after)
	})
	now := storetest.T0
	pass := func(handled int, want store.FileDeleteState) {
		t.Helper()
		if n, err := d.Pass(t.Context(), now); n != handled || err != nil {
			t.Errorf("handled %d, %v; want %d", n, err, handled)
		}
		err := st.View(t.Context(), func(tx *store.View) (err error) {
			wu, err = tx.Workunit(wu.ID)
			return err
		})
		if err != nil || wu.FileDeleteState != want {
			t.Errorf("%v, %v; want %v", wu.FileDeleteState, err, want)
		}
	}
	pass(1, store.DeleteError)
	now = now.Add(59 * time.Minute)
	pass(0, store.DeleteError)
	now = now.Add(time.Minute)
	pass(1, store.DeleteError)
	must(t, os.RemoveAll(filepath.Dir(obstacle)))
	pass(0, store.DeleteError)
	now = now.Add(time.Hour)
	pass(1, store.DeleteDone)
}

// A result that is reported while its files are removed is processed again: files that its host
// sent meanwhile are deleted too.
func TestALateReportWhileFilesGo(t *testing.T) {
	st := storetest.Open(t, t.TempDir())
	w := storetest.Fill(t, st)
	wu, _ := storetest.Add(t, st, w.Workunit("wu"), 0)
	save := func(change func(*store.Result)) {
		t.Helper()
		must(t, st.Update(t.Context(), func(tx *store.Tx) error {
			return store.Change(tx.ResultByName, "wu_0", tx.SaveResult, change)
		}))
	}
	storetest.Update(t, st, func(tx *store.Tx) (err error) {
		r := store.Result{
			WorkunitID: wu.ID, AppID: wu.AppID, Name: "wu_0", ServerState: store.Unsent,
			XMLDocIn: protocol.FileInfo{Name: "out", GeneratedLocally: true}.XML(),
		}
		if r.ID, err = storetest.InsertResult(tx, r); err != nil {
			return err
		}
		r.HostID, r.UserID, r.SentTime, r.ReportDeadline = w.Host.ID, w.User.ID, storetest.T0, storetest.T0.Add(time.Hour)
		return tx.Send(r)
	})
	save(func(r *store.Result) {
		r.ServerState, r.Outcome, r.FileDeleteState = store.Over, store.NoReply, store.DeleteReady
	})
	removals := 0
	d := &filedeleter.Deleter{Store: st, Log: slog.New(slog.DiscardHandler), Download: remover(func() {})}
	d.Upload = remover(func() {
		if removals++; removals == 1 {
			save(func(r *store.Result) { r.Outcome = store.ClientError })
		}
	})
	if _, err := d.Pass(t.Context(), storetest.T0); err != nil {
		t.Fatal(err)
	}
	if r := storetest.Get(t, st, (*store.View).Job, wu.ID).Results[0]; r.Outcome != store.ClientError || r.FileDeleteState != store.DeleteDone || removals != 2 {
		t.Errorf("%v, %v after %d removals, want 2", r.Outcome, r.FileDeleteState, removals)
	}
}

// A remover is a tree of files that calls a function when a file is removed.
type remover func()

func (r remover) Remove(context.Context, string) error {
	r()
	return nil
}

var must = testerr.Must
