package executor

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/starling-grid/starling/protocol"
)

// A compressed output is uploaded under its original name, also after a crash before the original
// was removed. Its bound applies to the uncompressed size.
func TestCompressedOutputs(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	text := strings.Repeat("A long line of text that is easy to compress.\n", 100)
	b.put("in_1", text)
	task := b.task("upper")
	task.Files[1].Gzip, task.Files[1].MaxBytes = true, int64(len(text))
	name := filepath.Join(b.project, "r_0_0")
	must(t, os.WriteFile(name, []byte("of an agent that was killed"), 0o600))
	b.start(task)
	e := b.exited()
	if e.Verdict != Success || len(e.Outputs) != 1 {
		t.Fatalf("got %+v", e)
	}
	file := []byte(b.read(name))
	if o := e.Outputs[0]; o.NBytes != int64(len(file)) || o.MD5 == "" || len(file) >= len(text)/2 {
		t.Errorf("%d bytes, reported as %+v", len(file), o)
	}
	r, err := gzip.NewReader(bytes.NewReader(file))
	must(t, err)
	if got, err := io.ReadAll(r); err != nil || string(got) != strings.ToUpper(text) {
		t.Errorf("decompressed: %.60q, %v", got, err)
	}

	b = newBench(t)
	b.put("in_1", text)
	task = b.task("upper")
	task.Files[1].Gzip, task.Files[1].MaxBytes = true, int64(len(text))-1
	b.start(task)
	if e := b.exited(); e.Verdict != ComputeError || len(e.Outputs) != 1 || !strings.Contains(e.Outputs[0].Err.Error(), "too big") {
		t.Errorf("one that is too big (%d): %+v", protocol.ErrNumFileTooBig, e)
	}
}
