package doctor

import (
	"strings"
	"testing"

	"github.com/starling-grid/starling/internal/testbus"
)

// The doctor reports a desktop that does not pass its input to logind.
func TestAMuteDesktopIsSaid(t *testing.T) {
	bus := testbus.Start(t)
	t.Setenv("DBUS_SYSTEM_BUS_ADDRESS", bus.Address)
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "")
	t.Setenv("DISPLAY", "")
	bus.Properties("org.freedesktop.login1", "/org/freedesktop/login1", "org.freedesktop.login1.Manager", map[string]any{"IdleHint": false, "IdleSinceHint": uint64(0)})
	f := idle(nil)
	if f.Grade != Note || !strings.Contains(f.Text.String(), "a desktop does not report to logind when it is used") || !strings.Contains(f.Fix.String(), "starling session") {
		t.Errorf("got %+v", f)
	}
	f = idle([]string{"the helper in the session of anna (Wayland), idle for 4 min"})
	if f.Grade != Good || !strings.Contains(f.Text.String(), "the session of anna (Wayland), idle for 4 min") {
		t.Errorf("with a helper: got %+v", f)
	}
}
