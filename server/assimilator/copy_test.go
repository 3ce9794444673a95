package assimilator_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/assimilator"
	"github.com/starling-grid/starling/server/blob"
	"github.com/starling-grid/starling/server/store"
)

func TestCopyTwiceIsCopyOnce(t *testing.T) {
	dir := t.TempDir()
	files, err := blob.Open(filepath.Join(dir, "upload"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = files.Close() })
	if _, err := files.Put("wu_0_r1_0", strings.NewReader("data")); err != nil {
		t.Fatal(err)
	}
	canonical := store.Result{ID: 7, Name: "wu_0", Outcome: store.Success, XMLDocIn: protocol.Result{Name: "wu_0", FileRefs: []protocol.FileRef{
		{FileName: "wu_0_r1_0", OpenName: "out"}, {FileName: "wu_0_r1_1", OpenName: "log", Optional: true},
	}}.XML()}
	wu := store.Workunit{Name: "wu", CanonicalResultID: 7, CanonicalCredit: 2}
	c := assimilator.Copy{Dir: dir, Files: files, App: "upper"}
	for range 2 { // the second time as after a crash
		if err := c.Assimilate(t.Context(), wu, []store.Result{canonical}, &canonical); err != nil {
			t.Fatal(err)
		}
	}
	if b, err := os.ReadFile(filepath.Join(dir, "wu", "out")); err != nil || string(b) != "data" {
		t.Errorf("got %q, %v", b, err)
	}
	if entries, err := os.ReadDir(filepath.Join(dir, "wu")); err != nil || len(entries) != 2 {
		t.Errorf("%d files, want out and result.json (%v)", len(entries), err)
	}
	var got struct {
		Workunit  string
		Canonical struct{ Result string }
		Files     []string
	}
	b, err := os.ReadFile(filepath.Join(dir, "wu", "result.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &got); err != nil || got.Workunit != "wu" || got.Canonical.Result != "wu_0" || len(got.Files) != 1 {
		t.Errorf("got %s, %v", b, err)
	}
}

func TestGivenUp(t *testing.T) {
	dir := t.TempDir()
	c := assimilator.Copy{Dir: dir, App: "upper"}
	if err := c.Assimilate(t.Context(), store.Workunit{Name: "wu", ErrorMask: store.ErrorTooManyErrors | store.ErrorCancelled}, nil, nil); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(dir, "wu", "result.json"))
	if err != nil || !strings.Contains(string(b), "too many error results") || !strings.Contains(string(b), "cancelled") {
		t.Errorf("got %s, %v", b, err)
	}
	if err := c.Assimilate(t.Context(), store.Workunit{Name: "../wu"}, nil, nil); err == nil {
		t.Error("a name led out of the folder")
	}
}
