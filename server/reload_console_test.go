package server_test

import (
	"io"
	"net/http"
	"testing"

	"github.com/starling-grid/starling/server"
	"github.com/starling-grid/starling/server/project"
)

// The operator's pages stay when settings are read again.
func TestReloadKeepsTheConsole(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	l := listen(t)
	fresh := make(chan project.Config)
	s := server.New(w.p, server.Part{})
	s.Reload, s.Admin = fresh, listen(t)
	s.Console = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "pages") })
	at := "http://" + s.Admin.Addr().String() + "/"
	defer served(t, s, l)()
	page := func() int {
		res, err := http.Get(at) //nolint:noctx // on loopback
		w.must(err)
		defer res.Body.Close()
		return res.StatusCode
	}
	if got := page(); got != http.StatusOK {
		t.Errorf("before: %d", got)
	}
	w.edit(`long_name = "Demo"`, `long_name = "Changed"`)
	c, err := project.ReadConfig(w.dir)
	w.must(err)
	fresh <- c
	fresh <- c // when this is taken, the first is in use
	if got := page(); got != http.StatusOK {
		t.Errorf("after: %d", got)
	}
}
