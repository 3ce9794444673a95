package neighbor_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/starling-grid/starling/internal/neighbor"
)

// Either one agent runs alone, or several run that all may have neighbors.
func TestEnter(t *testing.T) {
	t.Setenv("STARLING_RUN_DIR", t.TempDir())
	for _, tt := range []struct{ first, second, welcome bool }{
		{false, false, false},
		{false, true, false},
		{true, false, false},
		{true, true, true},
	} {
		leave, _, err := neighbor.Enter(t.Context(), "/first", tt.first)
		if err != nil {
			t.Fatal(err)
		}
		if where, running := neighbor.Running(); running == tt.first || running && runtime.GOOS != "windows" && where != "/first" {
			t.Errorf("%+v: told that one runs: %v, in %q", tt, running, where)
		}
		leave2, where, err := neighbor.Enter(t.Context(), "/second", tt.second)
		if (err == nil) != tt.welcome || err != nil && !errors.Is(err, neighbor.ErrNotAlone) || err != nil && runtime.GOOS != "windows" && where != "/first" {
			t.Errorf("%+v: %q, %v", tt, where, err)
		}
		if err == nil {
			leave2()
		}
		leave()
		leave, _, err = neighbor.Enter(t.Context(), "/third", false)
		if err != nil {
			t.Fatalf("%+v: afterwards: %v", tt, err)
		}
		leave()
	}
}

// What others leave in a folder that all users share keeps no agent from running, and
// is not written to.
func TestForeignFile(t *testing.T) {
	for name, spoil := range map[string]func(path, secret string) error{
		"a link":   func(path, secret string) error { return os.Symlink(secret, path) },
		"a folder": func(path, _ string) error { return os.Mkdir(path, 0o700) },
		"no place": func(path, _ string) error { return os.Remove(filepath.Dir(path)) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			secret, shared := filepath.Join(dir, "secret"), filepath.Join(dir, "run")
			if err := errors.Join(os.WriteFile(secret, []byte("x"), 0o600), os.Mkdir(shared, 0o700), spoil(filepath.Join(shared, "starling-agent.lock"), secret)); err != nil {
				t.Skip(err)
			}
			t.Setenv("STARLING_RUN_DIR", shared)
			leave, _, err := neighbor.Enter(t.Context(), "/first", false)
			if err != nil {
				t.Fatal(err)
			}
			leave()
			if b, err := os.ReadFile(secret); err != nil || string(b) != "x" {
				t.Errorf("another's file holds %q, %v", b, err)
			}
		})
	}
}
