//go:build unix

package bus

import (
	"net"
	"path/filepath"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
)

// A call ends although the bus accepts connections and then hangs.
func TestSilentBus(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "bus")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	b := &Bus{wait: time.Millisecond, open: func(o ...dbus.ConnOption) (*dbus.Conn, error) { return dbus.Connect("unix:path="+path, o...) }}
	for range 2 {
		if err := b.Call("a.b", "/", "a.b.C", nil); err == nil {
			t.Error("there was an answer")
		}
	}
}
