package filedeleter_test

import (
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/blob"
	"github.com/starling-grid/starling/server/filedeleter"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/store/storetest"
)

// While a copy of the project is made, nothing is deleted.
func TestFilesStayWhileTheyAreHeld(t *testing.T) {
	dir := t.TempDir()
	st := storetest.Open(t, dir)
	files, err := blob.Open(filepath.Join(dir, "files"))
	must(t, err)
	defer files.Close()
	if _, err := files.Put(t.Context(), "in", strings.NewReader("x")); err != nil {
		t.Fatal(err)
	}
	w := storetest.Fill(t, st)
	wu := w.Workunit("wu")
	wu.XMLDoc = protocol.FileInfo{Name: "in", NBytes: 1, MD5: "x"}.XML()
	wu, _ = storetest.Add(t, st, wu, 0)
	storetest.Update(t, st, func(tx *store.Tx) error {
		after := wu
		after.AssimilateState, after.FileDeleteState = store.AssimilateDone, store.DeleteReady
		if err := storetest.SaveWorkunit(tx, wu, after); err != nil {
			return err
		}
		return tx.HoldDeletion("backup", storetest.T0.Add(time.Minute))
	})
	d := &filedeleter.Deleter{Store: st, Log: slog.New(slog.DiscardHandler), Download: files, Upload: files}
	if n, err := d.Pass(t.Context(), storetest.T0); n != 0 || err != nil {
		t.Errorf("handled %d, %v", n, err)
	}
	if _, err := files.Size(t.Context(), "in"); err != nil {
		t.Error(err)
	}
	if n, err := d.Pass(t.Context(), storetest.T0.Add(time.Minute)); n != 1 || err != nil {
		t.Errorf("handled %d, %v; want 1", n, err)
	}
	if _, err := files.Size(t.Context(), "in"); err == nil {
		t.Error("the file is still there")
	}
}
