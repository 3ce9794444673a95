package bus

import (
	"strings"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"

	"github.com/starling-grid/starling/internal/testbus"
)

// A peer is another program on the bus.
type peer struct{ end <-chan struct{} }

func (peer) Seven() (uint32, *dbus.Error) { return 7, nil }

func (peer) Long() (string, *dbus.Error) { return strings.Repeat("x", 1<<20), nil }

func (peer) Many() ([]map[string]dbus.Variant, *dbus.Error) {
	return make([]map[string]dbus.Variant, 1<<16), nil
}

func (peer) Nothing() *dbus.Error { return nil }

func (p peer) Never() (uint32, *dbus.Error) {
	<-p.end
	return 8, nil
}

// A peer that answers with something else, with a megabyte, or never, fails that call alone. Its late answer is not
// taken for the answer to the next call.
func TestAPeerThatMisbehaves(t *testing.T) {
	t.Parallel()
	at := testbus.Start(t)
	end := make(chan struct{})
	at.Serve("org.example.Peer", "/peer", "org.example.Peer", peer{end})
	b := &Bus{wait: time.Minute, open: func(o ...dbus.ConnOption) (*dbus.Conn, error) { return dbus.Connect(at.Address, o...) }}
	call := func(method string, into any) error {
		patience := time.Minute
		if method == "Never" {
			patience = 10 * time.Millisecond
		}
		return b.call(patience, dbus.FlagNoAutoStart, "org.example.Peer", "/peer", "org.example.Peer."+method, into, nil)
	}
	ask := func(method string) (n uint32, err error) {
		err = call(method, &n)
		return n, err
	}
	for _, method := range []string{"Long", "Many", "Nothing", "Missing", "Never"} {
		if n, err := ask(method); err == nil {
			t.Errorf("%s: the answer was %d", method, n)
		}
		if method == "Never" {
			close(end)
		}
		if n, err := ask("Seven"); err != nil || n != 7 {
			t.Errorf("after %s: %d, %v", method, n, err)
		}
	}
	var text string
	if err := call("Long", &text); err != nil || len(text) != 1<<20 {
		t.Errorf("a megabyte: %d bytes, %v", len(text), err)
	}
}
