package main

import (
	"fmt"
	"io/fs"
	"net"
	"os/user"
	"strings"
	"testing"

	"github.com/starling-grid/starling/internal/testerr"
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

var must = testerr.Must
