package filedeleter_test

import (
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/blob"
	"github.com/starling-grid/starling/server/filedeleter"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/store/storetest"
)

// The compressed copy of an input file is deleted with the last workunit that needs it, and the
// file itself with the last that needs that.
func TestCompressedCopiesGo(t *testing.T) {
	dir := t.TempDir()
	st := storetest.Open(t, dir)
	files, err := blob.Open(filepath.Join(dir, "files"))
	must(t, err)
	defer files.Close()
	w := storetest.Fill(t, st)
	d := &filedeleter.Deleter{Store: st, Log: slog.New(slog.DiscardHandler), Download: files, Upload: files}
	list := []string{"in", blob.Packed("in")}
	for _, name := range list {
		if _, err := files.Put(t.Context(), name, strings.NewReader("x")); err != nil {
			t.Fatal(err)
		}
	}
	plain := protocol.FileInfo{Name: "in", NBytes: 9, MD5: "x"}
	packed := plain
	packed.GzippedNBytes = 1
	done := func(name string) {
		t.Helper()
		storetest.Update(t, st, func(tx *store.Tx) error {
			before, err := tx.WorkunitByName(name)
			if err != nil {
				return err
			}
			after := before
			after.AssimilateState, after.FileDeleteState = store.AssimilateDone, store.DeleteReady
			return storetest.SaveWorkunit(tx, before, after)
		})
		if n, err := d.Pass(t.Context(), storetest.T0); n != 1 || err != nil {
			t.Fatalf("handled %d, %v", n, err)
		}
	}
	for name, f := range map[string]protocol.FileInfo{"a": packed, "b": packed, "c": plain} {
		wu := w.Workunit(name)
		wu.XMLDoc = f.XML()
		storetest.Update(t, st, func(tx *store.Tx) error {
			_, err := storetest.InsertWorkunit(tx, wu, blob.Names(f)...)
			return err
		})
	}
	for _, step := range []struct {
		name string
		want string
	}{{"a", "in in.gz"}, {"b", "in"}, {"c", ""}} {
		done(step.name)
		var there []string
		for _, name := range list {
			if _, err := files.Size(t.Context(), name); err == nil {
				there = append(there, name)
			}
		}
		if got := strings.Join(there, " "); got != step.want {
			t.Errorf("after %s there is %q, want %q", step.name, got, step.want)
		}
	}
}
