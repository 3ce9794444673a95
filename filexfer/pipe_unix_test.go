//go:build unix

package filexfer_test

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/starling-grid/starling/filexfer"
	"github.com/starling-grid/starling/internal/foreigndir"
)

// An application can put a named pipe where a file was. Opening it must not wait for a writer.
func TestNamedPipes(t *testing.T) {
	dir := folder(t, nil)
	must(t, syscall.Mkfifo(filepath.Join(dir.Name(), "out"), 0o600))
	h := newHandler(t)
	u := filexfer.Upload{Dir: dir, Name: "out", URLs: []string{serve(t, h.ServeHTTP).URL}, Signature: "00\n.\n", MaxNBytes: 1e6}
	if err := client(nil).Upload(t.Context(), u, nil); !errors.Is(err, foreigndir.ErrIrregular) {
		t.Errorf("upload: %v", err)
	}
	if err := (filexfer.Download{Dir: dir, Name: "out", MD5: md5Hex(nil)}).Check(); !errors.Is(err, foreigndir.ErrIrregular) {
		t.Errorf("check: %v", err)
	}
}
