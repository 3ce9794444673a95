package installer_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/windows/registry"
	"golang.org/x/sys/windows/svc/eventlog"

	"github.com/starling-grid/starling/installer"
	"github.com/starling-grid/starling/internal/testwait"
)

// sources is the registry key with the event log's programs.
const sources = `SYSTEM\CurrentControlSet\Services\EventLog\Application\`

// TestMain also runs as the service.
func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == "run" {
		if installer.Run(context.Background(), agent) != nil {
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// agent fails if a certain file exists. Otherwise it records in its data directory that it runs,
// and at the end that it has ended.
func agent(ctx context.Context, record slog.Handler) error {
	dir := os.Args[3]
	if _, err := os.Stat(filepath.Join(dir, "fail")); err == nil {
		return errors.New("this is to fail")
	}
	if record == nil {
		return errors.New("the Service Manager did not start it")
	}
	slog.New(record).Error("a test's error", "err", "none")
	if err := os.WriteFile(filepath.Join(dir, "working"), nil, 0o600); err != nil {
		return err
	}
	<-ctx.Done()
	return os.Rename(filepath.Join(dir, "working"), filepath.Join(dir, "ended"))
}

// The Service Manager starts the agent and stops it properly, repeatedly.
func TestTheServiceOfWindows(t *testing.T) {
	if installer.Installed() {
		t.Skip("Starling is installed here; its service is left alone and NOT tested")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "its data")
	s := installer.Service{Executable: self, DataDir: dir}
	do := func(v installer.Verb) string {
		t.Helper()
		told, err := s.Do(v)
		if err != nil {
			t.Fatalf("%s: %v", v, err)
		}
		return told
	}
	is := func(name string) bool {
		_, err := os.Stat(filepath.Join(dir, name))
		return err == nil
	}
	if _, err := s.Do(installer.Status); err == nil || !strings.Contains(err.Error(), "starling service install") {
		t.Errorf("before it is installed: %v", err)
	}

	if told := do(installer.Install); !strings.Contains(told, dir) {
		t.Errorf("told %q", told)
	}
	t.Cleanup(func() { _, _ = s.Do(installer.Uninstall) })
	if got := do(installer.Status); got != "active" {
		t.Errorf("installed: %s", got)
	}
	if _, err := s.Do(installer.Install); err == nil || !strings.Contains(err.Error(), "already installed") {
		t.Errorf("a second installation: %v", err)
	}
	key, err := registry.OpenKey(registry.LOCAL_MACHINE, sources+"Starling", registry.QUERY_VALUE)
	if err != nil {
		t.Fatalf("the event log does not know the source: %v", err)
	}
	_ = key.Close()
	if log, err := eventlog.Open("Starling"); err != nil {
		t.Error(err)
	} else if err := errors.Join(log.Info(1, "an event"), log.Error(3, "an error"), log.Close()); err != nil {
		t.Errorf("the event log refuses events: %v", err)
	}

	do(installer.Stop)
	if got := do(installer.Status); got != "inactive" || !is("ended") || is("working") {
		t.Errorf("stopped: %s; ended %v, working %v", got, is("ended"), is("working"))
	}
	do(installer.Stop) // and is stopped
	do(installer.Start)
	do(installer.Start) // and works
	do(installer.Restart)
	if got := do(installer.Status); got != "active" {
		t.Errorf("restarted: %s", got)
	}
	do(installer.Uninstall)
	if !is("ended") || is("working") {
		t.Error("it was removed while it worked")
	}
	if installer.Installed() {
		t.Error("it is still there")
	}
	if key, err := registry.OpenKey(registry.LOCAL_MACHINE, sources+"Starling", registry.QUERY_VALUE); err == nil {
		_ = key.Close()
		t.Error("the event log still knows the source")
	}
}

// A service that fails reports the error.
func TestAServiceThatFails(t *testing.T) {
	if installer.Installed() {
		t.Skip("Starling is installed here; its service is left alone and NOT tested")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s := installer.Service{Executable: self, DataDir: t.TempDir()}
	if err := os.WriteFile(filepath.Join(s.DataDir, "fail"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = s.Do(installer.Install)
	t.Cleanup(func() { _, _ = s.Do(installer.Uninstall) })
	if err != nil && !strings.Contains(err.Error(), "event log") {
		t.Errorf("got %v", err)
	}
	testwait.Until(t, "the service to be inactive", func() bool { // it may have been active before it failed
		got, err := s.Do(installer.Status)
		if err != nil {
			t.Fatal(err)
		}
		return got == "inactive"
	})
}
