package sysfault_test

import (
	"context"
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
	"github.com/starling-grid/starling/internal/words"
)

// Errors with texts are translated, alone and joined. An error that wraps one is shown as it is.
func TestText(t *testing.T) {
	refusal := words.Refuse(words.T("the agent is stopping"))
	for _, tt := range []struct {
		err             error
		english, german string
	}{
		{nil, "", ""},
		{refusal, "the agent is stopping", "Der Agent wird gerade beendet"},
		{errors.Join(refusal, fs.ErrExist), "the agent is stopping\nfile already exists", "Der Agent wird gerade beendet\nfile already exists"},
		{errors.Join(errors.Join(nil, refusal)), "the agent is stopping", "Der Agent wird gerade beendet"},
		{fmt.Errorf("x: %w, %w", refusal, fs.ErrExist), "x: the agent is stopping, file already exists", "x: the agent is stopping, file already exists"},
		{words.Explain(&fs.PathError{Op: "open", Path: "p", Err: fs.ErrNotExist}, words.T("nothing was changed: {why}", "why", sysfault.Text(refusal))), "nothing was changed: the agent is stopping", "Es wurde nichts geändert: Der Agent wird gerade beendet"},
		{&fs.PathError{Op: "open", Path: "p", Err: fs.ErrNotExist}, "p does not exist", "p does not exist"},
	} {
		text := sysfault.Text(tt.err)
		if text.String() != tt.english || text.In("de") != tt.german {
			t.Errorf("%v: got %q and %q, want %q and %q", tt.err, text, text.In("de"), tt.english, tt.german)
		}
	}
}

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
	_, portless := net.Listen("tcp", "127.0.0.1")
	_, large := net.Listen("tcp", "127.0.0.1:99999")
	_, foreign := net.Listen("tcp", "192.0.2.7:8000") // an address for documentation
	closed := &net.OpError{Op: "listen", Net: "tcp", Addr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80}, Err: os.NewSyscallError("bind", fs.ErrPermission)}
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
		{fmt.Errorf("status: %w", context.Canceled), "status: interrupted"},
		{context.DeadlineExceeded, "it took too long"},
		{portless, "127.0.0.1: missing port in address"},
		{large, "99999: invalid port"},
		{foreign, "192.0.2.7:8000 is not an address of this computer"},
		{closed, "no permission to listen at 127.0.0.1:80"},
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
