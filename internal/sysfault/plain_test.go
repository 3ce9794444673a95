package sysfault_test

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/starling-grid/starling/internal/atomicfile"
	"github.com/starling-grid/starling/internal/sysfault"
)

// TestPlain makes the system fail, and checks the text that people read.
func TestPlain(t *testing.T) {
	dir := t.TempDir()
	there := filepath.Join(dir, "there")
	if err := os.WriteFile(there, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	missing := filepath.Join(dir, "missing")
	_, open := os.ReadFile(missing)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	_, taken := net.Listen("tcp", address)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	resp, refused := http.Get("http://" + address)
	if refused == nil {
		_ = resp.Body.Close()
	}
	unknown := &net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "no such host", Name: "x.example", Server: "192.0.2.53:53", IsNotFound: true}}
	for _, tt := range []struct {
		err  error
		want string
	}{
		{nil, ""},
		{errors.New("it is late"), "it is late"},
		{open, missing + " does not exist"},
		{fmt.Errorf("import: %w; is it there?", open), "import: " + missing + " does not exist; is it there?"},
		{errors.Join(open, errors.New("and more")), missing + " does not exist\nand more"},
		{os.Mkdir(there, 0o700), there + " already exists"},
		{os.MkdirAll(there, 0o700), there + " is not a folder"},
		{os.Rename(missing, filepath.Join(dir, "x")), missing + " does not exist"},
		{atomicfile.Write(filepath.Join(missing, "x"), nil, 0o600), "the folder " + missing + " does not exist"},
		{&fs.PathError{Op: "mkdir", Path: "slots/0", Err: fs.ErrPermission}, "no permission to use slots/0"},
		{taken, address + " is in use by another program"},
		{refused, `Get "http://` + address + `": ` + address + " refuses connections"},
		{fmt.Errorf("cannot reach x: %w", unknown), "cannot reach x: the name x.example cannot be resolved"},
	} {
		if got := sysfault.Plain(tt.err); got != tt.want {
			t.Errorf("%v: got %q, want %q", tt.err, got, tt.want)
		}
	}
	if err := atomicfile.Write(filepath.Join(missing, "x"), nil, 0o600); strings.Contains(err.Error(), ".tmp") {
		t.Errorf("%v names a file that nobody knows", err)
	}
}
