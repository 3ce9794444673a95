package assimilator_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/internal/testerr"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/assimilator"
	"github.com/starling-grid/starling/server/blob"
	"github.com/starling-grid/starling/server/store"
)

// finished returns a result with an output file out, which is in files, and a log
// that was not made.
func finished(t *testing.T, files *blob.Dir) store.Result {
	t.Helper()
	if _, err := files.Put(t.Context(), "wu_0_r1_0", strings.NewReader("data")); err != nil {
		t.Fatal(err)
	}
	return store.Result{ID: 7, Name: "wu_0", Outcome: store.Success, XMLDocIn: protocol.Result{Name: "wu_0", FileRefs: []protocol.FileRef{
		{FileName: "wu_0_r1_0", OpenName: "out"}, {FileName: "wu_0_r1_1", OpenName: "log", Optional: true},
	}}.XML()}
}

func openFiles(t *testing.T, dir string) *blob.Dir {
	t.Helper()
	files, err := blob.Open(filepath.Join(dir, "upload"))
	must(t, err)
	t.Cleanup(func() { _ = files.Close() })
	return files
}

func TestCopyTwiceIsCopyOnce(t *testing.T) {
	dir := t.TempDir()
	files := openFiles(t, t.TempDir())
	canonical := finished(t, files)
	wu := store.Workunit{Name: "wu", CanonicalResultID: 7, CanonicalCredit: 2}
	c := &assimilator.Copy{Dir: dir, Files: files, App: "upper"}
	hand := func() {
		must(t, c.Assimilate(t.Context(), wu, []store.Result{canonical}, &canonical))
	}
	flush := func() {
		must(t, c.Flush())
	}
	hand()
	if _, err := os.Stat(filepath.Join(dir, "wu")); err == nil {
		t.Error("an outcome is there before it is durable")
	}
	c = &assimilator.Copy{Dir: dir, Files: files, App: "upper"} // as after a crash
	left, err := os.ReadDir(filepath.Join(dir, ".tmp"))
	if err != nil || len(left) != 1 {
		t.Fatalf("aside: %v, %v", left, err)
	}
	old := time.Now().Add(-48 * time.Hour)
	must(t, os.Chtimes(filepath.Join(dir, ".tmp", left[0].Name()), old, old))
	hand()
	flush()
	// An old folder at that place is replaced.
	must(t, os.WriteFile(filepath.Join(dir, "wu", "old"), nil, 0o600))
	hand()
	flush()
	if b, err := os.ReadFile(filepath.Join(dir, "wu", "out")); err != nil || string(b) != "data" {
		t.Errorf("got %q, %v", b, err)
	}
	if entries, err := os.ReadDir(filepath.Join(dir, "wu")); err != nil || len(entries) != 2 {
		t.Errorf("%d files, want out and result.json (%v)", len(entries), err)
	}
	if left, err := os.ReadDir(filepath.Join(dir, ".tmp")); err != nil || len(left) > 0 {
		t.Errorf("left aside: %v, %v", left, err)
	}
	var got struct {
		Workunit  string
		Canonical struct{ Result string }
		Files     []string
	}
	b, err := os.ReadFile(filepath.Join(dir, "wu", "result.json"))
	must(t, err)
	if err := json.Unmarshal(b, &got); err != nil || got.Workunit != "wu" || got.Canonical.Result != "wu_0" || len(got.Files) != 1 {
		t.Errorf("got %s, %v", b, err)
	}
}

func TestGivenUp(t *testing.T) {
	dir := t.TempDir()
	c := &assimilator.Copy{Dir: dir, App: "upper"}
	must(t, c.Assimilate(t.Context(), store.Workunit{Name: "wu", ErrorMask: store.ErrorTooManyErrors | store.ErrorCancelled}, nil, nil))
	must(t, c.Flush())
	b, err := os.ReadFile(filepath.Join(dir, "wu", "result.json"))
	if err != nil || !strings.Contains(string(b), "too many error results") || !strings.Contains(string(b), "cancelled") {
		t.Errorf("got %s, %v", b, err)
	}
	if err := c.Assimilate(t.Context(), store.Workunit{Name: "../wu"}, nil, nil); err == nil {
		t.Error("a name led out of the folder")
	}
}

// More than a few are made durable together.
func TestMany(t *testing.T) {
	dir := t.TempDir()
	files := openFiles(t, t.TempDir())
	canonical := finished(t, files)
	c := &assimilator.Copy{Dir: dir, Files: files, App: "upper"}
	const n = 50
	for i := range n {
		wu := store.Workunit{Name: fmt.Sprint("wu", i), CanonicalResultID: 7}
		must(t, c.Assimilate(t.Context(), wu, []store.Result{canonical}, &canonical))
	}
	must(t, c.Flush())
	for i := range n {
		for _, name := range []string{"out", "result.json"} {
			if st, err := os.Stat(filepath.Join(dir, fmt.Sprint("wu", i), name)); err != nil || st.Size() == 0 {
				t.Errorf("workunit %d: %s: %v", i, name, err)
			}
		}
	}
}

// A workunit whose outputs are missing must not delay the others.
func TestOneOfTwoFails(t *testing.T) {
	dir := t.TempDir()
	files := openFiles(t, t.TempDir())
	canonical := finished(t, files)
	gone := canonical
	gone.XMLDocIn = strings.ReplaceAll(gone.XMLDocIn, "wu_0_r1_0", "nowhere")
	c := &assimilator.Copy{Dir: dir, Files: files, App: "upper"}
	if err := c.Assimilate(t.Context(), store.Workunit{Name: "bad", CanonicalResultID: 7}, nil, &gone); err == nil {
		t.Error("an outcome without its outputs was taken")
	}
	must(t, c.Assimilate(t.Context(), store.Workunit{Name: "good", CanonicalResultID: 7}, nil, &canonical))
	must(t, c.Flush())
	if _, err := os.Stat(filepath.Join(dir, "bad")); err == nil {
		t.Error("half an outcome is there")
	}
	if _, err := os.Stat(filepath.Join(dir, "good", "out")); err != nil {
		t.Error(err)
	}
}

// Folders lie in folders where that is wanted, and none of many makes room for one.
func TestDivided(t *testing.T) {
	dir := t.TempDir()
	files := openFiles(t, t.TempDir())
	canonical := finished(t, files)
	hand := func(divided string, wu store.Workunit) error {
		t.Helper()
		wu.CanonicalResultID = 7
		c := &assimilator.Copy{Dir: dir, Files: files, App: "upper", Divided: divided}
		must(t, c.Assimilate(t.Context(), wu, []store.Result{canonical}, &canonical))
		return c.Flush()
	}
	made := time.Date(2027, 1, 31, 23, 59, 0, 0, time.UTC)
	for _, tt := range []struct {
		divided string
		batch   int64
		want    string
	}{
		{"", 7, "wu"},
		{assimilator.Flat, 7, "wu"},
		{assimilator.ByBatch, 7, "batch_7/wu"},
		{assimilator.ByBatch, 0, "no_batch/wu"},
		{assimilator.ByDay, 7, "2027-01-31/wu"},
		{assimilator.ByBatchOrDay, 8, "batch_8/wu"},
		{assimilator.ByBatchOrDay, 0, "2027-01-31/wu"},
	} {
		for range 2 { // again, as after a crash
			must(t, hand(tt.divided, store.Workunit{Name: "wu", Batch: tt.batch, CreateTime: made}))
		}
		if b, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(tt.want), "out")); err != nil || string(b) != "data" {
			t.Errorf("%s: %q, %v", tt.want, b, err)
		}
	}
	if err := hand(assimilator.Flat, store.Workunit{Name: "batch_7"}); err == nil {
		t.Error("a workunit took the place of a batch")
	}
	if _, err := os.Stat(filepath.Join(dir, "batch_7", "wu", "out")); err != nil {
		t.Error(err)
	}
}

// An outcome is found where it was put, however the folder is divided later.
func TestFolder(t *testing.T) {
	dir := t.TempDir()
	wu := store.Workunit{Name: "wu", Batch: 7, CreateTime: time.Date(2027, 1, 31, 23, 59, 0, 0, time.UTC)}
	if got, want := assimilator.Folder(dir, assimilator.ByBatchOrDay, wu), filepath.Join(dir, "batch_7", "wu"); got != want {
		t.Errorf("before there is one: %s, want %s", got, want)
	}
	c := &assimilator.Copy{Dir: dir, App: "upper", Divided: assimilator.ByDay}
	must(t, errors.Join(c.Assimilate(t.Context(), wu, nil, nil), c.Flush()))
	for _, divided := range assimilator.Divisions {
		if got, want := assimilator.Folder(dir, divided, wu), filepath.Join(dir, "2027-01-31", "wu"); got != want {
			t.Errorf("%s: %s, want %s", divided, got, want)
		}
	}
}

// Two processes that have the same workunit in hand do not spoil each other's work.
func TestCopyOfTwo(t *testing.T) {
	dir := t.TempDir()
	files := openFiles(t, t.TempDir())
	canonical := finished(t, files)
	wu := store.Workunit{Name: "wu", CanonicalResultID: 7, CanonicalCredit: 2}
	one, other := &assimilator.Copy{Dir: dir, Files: files, App: "upper"}, &assimilator.Copy{Dir: dir, Files: files, App: "upper"}
	for _, c := range []*assimilator.Copy{one, other} {
		must(t, c.Assimilate(t.Context(), wu, []store.Result{canonical}, &canonical))
	}
	for _, c := range []*assimilator.Copy{one, other} {
		if err := c.Flush(); err != nil {
			t.Error(err)
		}
		if b, err := os.ReadFile(filepath.Join(dir, "wu", "out")); err != nil || string(b) != "data" {
			t.Errorf("got %q, %v", b, err)
		}
	}
	if left, err := os.ReadDir(filepath.Join(dir, ".tmp")); err != nil || len(left) > 0 {
		t.Errorf("left aside: %v, %v", left, err)
	}
}

var must = testerr.Must

// An output with the name of the summary is not taken, rather than lost with its upload.
func TestAnOutputWithTheNameOfTheSummary(t *testing.T) {
	dir := t.TempDir()
	files := openFiles(t, t.TempDir())
	canonical := finished(t, files)
	canonical.XMLDocIn = strings.ReplaceAll(canonical.XMLDocIn, ">out<", ">result.json<")
	wu := store.Workunit{Name: "wu", CanonicalResultID: 7, CanonicalCredit: 2}
	c := &assimilator.Copy{Dir: dir, Files: files, App: "upper"}
	if err := c.Assimilate(t.Context(), wu, []store.Result{canonical}, &canonical); err == nil || !strings.Contains(err.Error(), "open_name") {
		t.Errorf("it is taken: %v", err)
	}
	if sum, err := files.Sum(t.Context(), "wu_0_r1_0"); err != nil || sum.NBytes != 4 {
		t.Errorf("the uploaded file is spoiled: %+v, %v", sum, err)
	}
}
