// Package testbus runs, for tests, a message bus of Debian's dbus-daemon with
// services of the test's own on it.
package testbus

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/godbus/dbus/v5"
	"github.com/godbus/dbus/v5/prop"
)

// A Bus is a bus that ends with its test.
type Bus struct {
	Address string

	t    testing.TB
	conn *dbus.Conn
}

// Start starts a bus. The test is skipped where there is no dbus-daemon.
func Start(t testing.TB) *Bus {
	t.Helper()
	program, err := exec.LookPath("dbus-daemon")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip("dbus-daemon is not installed; tools/install-test-deps installs it")
	}
	cmd := exec.Command(program, "--session", "--nofork", "--nopidfile", "--print-address", "--address=unix:path="+filepath.Join(t.TempDir(), "bus"))
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("dbus-daemon said %q: %v", line, err)
	}
	b := &Bus{Address: strings.TrimSpace(line), t: t}
	if b.conn, err = dbus.Connect(b.Address); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.conn.Close() })
	return b
}

// Serve puts an object with methods on the bus under a new name.
func (b *Bus) Serve(name, path, iface string, methods any) {
	b.t.Helper()
	b.own(name)
	if err := b.conn.Export(methods, dbus.ObjectPath(path), iface); err != nil {
		b.t.Fatal(err)
	}
}

// Emit sends a signal.
func (b *Bus) Emit(path, name string, values ...any) {
	b.t.Helper()
	if err := b.conn.Emit(dbus.ObjectPath(path), name, values...); err != nil {
		b.t.Fatal(err)
	}
}

// Properties puts an object with properties on the bus under a new name. It returns a function that
// changes a property.
func (b *Bus) Properties(name, path, iface string, values map[string]any) (set func(property string, value any)) {
	b.t.Helper()
	b.own(name)
	all := make(map[string]*prop.Prop)
	for k, v := range values {
		all[k] = &prop.Prop{Value: v}
	}
	p, err := prop.Export(b.conn, dbus.ObjectPath(path), prop.Map{iface: all})
	if err != nil {
		b.t.Fatal(err)
	}
	return func(property string, value any) { p.SetMust(iface, property, value) }
}

func (b *Bus) own(name string) {
	b.t.Helper()
	got, err := b.conn.RequestName(name, dbus.NameFlagDoNotQueue)
	if err != nil || got != dbus.RequestNameReplyPrimaryOwner && got != dbus.RequestNameReplyAlreadyOwner {
		b.t.Fatalf("name %s: %v, %v", name, got, err)
	}
}
