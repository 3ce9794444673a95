package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"testing"

	"github.com/starling-grid/starling/internal/testerr"
	"github.com/starling-grid/starling/server/operate"
	"github.com/starling-grid/starling/server/project"
)

// Commands that sudo runs as the server's user may not read files in the home directory of the
// caller. The error then names the user.
func TestExplainNamesWhoMayNot(t *testing.T) {
	denied := fmt.Errorf("certificate: %w", &fs.PathError{Op: "open", Path: "/root/key.pem", Err: fs.ErrPermission})
	for _, tt := range []struct {
		name  string
		err   error
		user  *user.User
		named bool
	}{
		{"the server's user", denied, &user.User{Uid: "998", Username: "starling-server"}, true},
		{"root may all, so that something else forbids it", denied, &user.User{Uid: "0", Username: "root"}, false},
		{"nobody knows", denied, nil, false},
		{"a socket is a file", &net.OpError{Op: "dial", Net: "unix", Err: fs.ErrPermission}, &user.User{Uid: "998", Username: "starling-server"}, true},
		{"an address is no file", &net.OpError{Op: "listen", Net: "tcp", Err: fs.ErrPermission}, &user.User{Uid: "998", Username: "starling-server"}, false},
		{"another error", fs.ErrNotExist, &user.User{Uid: "998", Username: "starling-server"}, false},
	} {
		text := explain(tt.err, tt.user)
		if got := strings.Contains(text, "You can: give the user starling-server"); got != tt.named {
			t.Errorf("%s: %q, want the user named: %v", tt.name, text, tt.named)
		}
	}
}

// While a project is moved or its key is rotated, commands do not change it: they would change the place that it has
// just left. A folder that is not a project's is left as it is.
func TestCommandsWaitForAMove(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "p")
	must(t, operate.Init(t.Context(), dir, operate.NewProject{Name: "Demo", MasterURL: "http://127.0.0.1:9/demo/"}))
	run := func(args ...string) error {
		cmd := root()
		cmd.SetArgs(args)
		return cmd.ExecuteContext(t.Context())
	}
	done, err := project.Alone(dir)
	must(t, err)
	if err := run("app", "add", dir, "upper"); !errors.Is(err, project.ErrRotating) {
		t.Errorf("during a move: %v", err)
	}
	must(t, run("app", "list", dir))
	must(t, done())
	must(t, run("app", "add", dir, "upper"))
	must(t, run("key", "rotate", dir))
	elsewhere := t.TempDir()
	if err := run("app", "add", elsewhere, "upper"); err == nil {
		t.Error("an application was added to an empty folder")
	}
	if left, err := os.ReadDir(elsewhere); err != nil || len(left) > 0 {
		t.Errorf("the empty folder has %v, %v", left, err)
	}
}

var must = testerr.Must
