//go:build unix

package main

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/starling-grid/starling/server/operate"
	"github.com/starling-grid/starling/server/project"
)

// SIGHUP applies the current settings, with the command line's flags. Settings with a mistake are
// logged.
func TestReloads(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "p")
	must(t, operate.Init(t.Context(), dir, operate.NewProject{Name: "Demo", MasterURL: "http://127.0.0.1:8080/demo/"}))
	logged := make(lines, 1)
	p, err := project.Open(t.Context(), dir, slog.New(slog.NewTextHandler(logged, nil)))
	must(t, err)
	defer p.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	settings := reloads(ctx, p, func(c *project.Config) error {
		c.TLS = true
		return nil
	})
	name := filepath.Join(dir, "server.toml")
	edit := func(from, to string) {
		t.Helper()
		b, err := os.ReadFile(name)
		if err != nil || !strings.Contains(string(b), from) {
			t.Fatalf("no %s in the settings, %v", from, err)
		}
		must(t, os.WriteFile(name, []byte(strings.Replace(string(b), from, to, 1)), 0o600))
		must(t, syscall.Kill(os.Getpid(), syscall.SIGHUP))
	}
	edit("long_name =", "long_nam =")
	if line := <-logged; !strings.Contains(line, "long_nam: unknown key") || !strings.Contains(line, "the previous ones stay in effect") {
		t.Errorf("logged %s", line)
	}
	edit(`long_nam = "Demo"`, `long_name = "Changed"`)
	if c := <-settings; c.LongName != "Changed" || !c.TLS {
		t.Errorf("got %+v", c)
	}
}
