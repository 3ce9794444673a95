package wasmhost

import (
	"archive/zip"
	"bytes"
	"context"
	"io"
	"os"
	"testing"

	"github.com/starling-grid/starling/protocol/appipc"
)

// slot is a slot without soft links, whose task runs alone.
type slot struct{ bound int64 }

func (slot) Yield() error                           { return nil }
func (slot) FractionDone(float64)                   {}
func (slot) TimeToCheckpoint() bool                 { return false }
func (slot) CheckpointCompleted()                   {}
func (slot) Resolve(logical string) (string, error) { return logical, nil }
func (slot) Context() context.Context               { return context.Background() }
func (s slot) InitData() appipc.InitData            { return appipc.InitData{RscDiskBound: s.bound} }

// TestCompiledCodeIsKept runs a module in one slot after the other and passes the compiled code on,
// as the agent does.
func TestCompiledCodeIsKept(t *testing.T) {
	one, two := module(nil, nil, 0x42, 1), module(nil, nil, 0x42, 2) // i64.const
	var kept []byte
	for _, c := range []struct {
		what   string
		module []byte
		bound  int64
		kept   func() []byte // nil: the client keeps nothing
		newly  bool
	}{
		{"no client that keeps it", one, 0, nil, false},
		{"too little disk space", one, 10, func() []byte { return nil }, false},
		{"the first task", one, 1 << 20, func() []byte { return nil }, true},
		{"the second task", one, 1 << 20, func() []byte { return kept }, false},
		{"cut short", one, 0, func() []byte { return kept[:len(kept)/2] }, true},
		{"damaged inside", one, 0, func() []byte { return damaged(t, kept) }, true},
		{"another module's", two, 0, func() []byte { return kept }, true},
	} {
		t.Chdir(t.TempDir())
		must(t, os.Mkdir(folder, 0o700))
		if c.kept != nil {
			must(t, os.WriteFile(CompiledFile, c.kept(), 0o600))
		}
		for range 2 { // the second run uses the code of the first
			must(t, execute(slot{c.bound}, c.module, []string{"m"}))
		}
		got, err := os.ReadFile(NewlyCompiledFile)
		if newly := err == nil; newly != c.newly {
			t.Errorf("%s: newly compiled: %v (%v)", c.what, newly, err)
		}
		if c.what == "the first task" {
			kept = got
		}
		if _, err := os.Lstat(compilerDir); err == nil {
			t.Errorf("%s: the compiler's folder is left", c.what)
		}
	}
}

// damaged changes a byte of the compiled code in an archive, and makes a good archive of that.
func damaged(t *testing.T, packed []byte) []byte {
	t.Helper()
	from, err := zip.NewReader(bytes.NewReader(packed), int64(len(packed)))
	must(t, err)
	var b bytes.Buffer
	to := zip.NewWriter(&b)
	for _, f := range from.File {
		r, err := f.Open()
		must(t, err)
		content, err := io.ReadAll(r)
		must(t, err)
		if len(content) > 0 {
			content[len(content)/2] ^= 1
		}
		w, err := to.Create(f.Name)
		must(t, err)
		_, err = w.Write(content)
		must(t, err)
	}
	must(t, to.Close())
	return b.Bytes()
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
