package desktop

import (
	"net"
	"time"

	"github.com/starling-grid/starling/internal/wayland"
)

// compositor is a Wayland compositor that reports input without being asked.
type compositor struct{ *wayland.Monitor }

// Pushes reports that it reports the return of people.
func (compositor) Pushes() bool { return true }

func openWayland(path string, returned func()) (watch, error) {
	conn, err := (&net.Dialer{Timeout: 2 * time.Second}).Dial("unix", path)
	if err != nil {
		return nil, err
	}
	m, err := wayland.Watch(conn, returned)
	if err != nil {
		return nil, err
	}
	return compositor{m}, nil
}
