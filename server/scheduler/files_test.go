package scheduler_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/starling-grid/starling/server/store"
)

// Whether a file has come is asked of a place that may be slow or away, while others change
// the database: an order is seen to be done once the file is there.
func TestOrderedFileIsLookedForOutside(t *testing.T) {
	w := newWorld(t)
	host := w.first().HostID
	w.update(func(tx *store.Tx) error {
		_, err := tx.AddFileOrder(store.FileOrder{CreateTime: w.now, HostID: host, Action: store.FileGet, Name: "kept", XML: "<file_info><name>kept</name></file_info>"})
		return err
	})
	there, failing, asked := false, error(nil), 0
	w.s.Uploaded = func(ctx context.Context, name string) (bool, error) {
		asked++
		if name != "kept" {
			t.Errorf("asked for %s", name)
		}
		return there, errors.Join(failing, w.store.Update(ctx, func(*store.Tx) error { return nil })) // by someone else
	}
	ordered := func(seqno int) bool {
		r := w.as(host, seqno, "07-report-one-ok")
		for _, f := range r.Files {
			if f.Name == "kept" && len(f.UploadURLs) > 0 && strings.HasPrefix(f.UploadURLs[0], "http") {
				return true
			}
		}
		return false
	}
	if !ordered(2) {
		t.Error("the file is not asked for")
	}
	there, failing = false, errors.New("the bucket is away")
	if !ordered(3) {
		t.Error("a file that nobody can see is taken to be there")
	}
	there, failing = true, nil
	if ordered(4) || ordered(5) {
		t.Error("a file that is there is asked for")
	}
	if asked != 3 {
		t.Errorf("asked %d times, and the last request has nothing to ask", asked)
	}
}
