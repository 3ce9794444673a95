package notify

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/agent/desktop"
	"github.com/starling-grid/starling/internal/testbus"
)

// server is a desktop's server of notifications.
type server struct {
	mu    sync.Mutex
	can   []string
	shown []string
}

func (s *server) GetCapabilities() ([]string, *dbus.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.can, nil
}

func (s *server) Notify(app string, _ uint32, icon, title, text string, _ []string, _ map[string]dbus.Variant, _ int32) (uint32, *dbus.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shown = append(s.shown, app+"|"+icon+"|"+title+"|"+text)
	return 7, nil
}

// agent is an agent with a problem.
type agent struct{ control.Agent }

func (agent) Status(context.Context) (control.Status, error) {
	return control.Status{Problems: []control.Problem{{Key: "k", Text: "LHC <b>: the key is wrong.", Notify: true}, {Key: "n", Text: "No."}}}, nil
}

// A notification passes from an agent's real door to a real bus. Markup in the name of a project
// stays text.
func TestTheDesktopShowsIt(t *testing.T) {
	bus := testbus.Start(t)
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", bus.Address)
	dir, err := os.MkdirTemp("", "starling") //nolint:usetesting // the socket needs a short path
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	problems := func(ctx context.Context) ([]control.Problem, error) {
		d, err := control.NewClient(dir).Desktop(ctx)
		return d.Problems, err
	}
	n := Notifier{Ask: problems, Show: desktop.Notify, File: filepath.Join(t.TempDir(), "notified.json")}
	n.look(t.Context(), time.Now()) // no agent is running
	if err := control.Serve(t.Context(), dir, "", agent{}, control.Local{}, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	n.look(t.Context(), time.Now()) // the desktop shows no notifications yet
	s := &server{can: []string{"body", "body-markup"}}
	bus.Serve("org.freedesktop.Notifications", "/org/freedesktop/Notifications", "org.freedesktop.Notifications", s)
	n.look(t.Context(), time.Now())
	n.look(t.Context(), time.Now())
	s.mu.Lock()
	s.can = nil
	s.mu.Unlock()
	n.look(t.Context(), time.Now().Add(shortest))
	s.mu.Lock()
	defer s.mu.Unlock()
	const head = "Starling|starling|Starling needs your attention|LHC "
	if len(s.shown) != 2 || s.shown[0] != head+"&lt;b&gt;: the key is wrong." || s.shown[1] != head+"<b>: the key is wrong." {
		t.Errorf("shown: %q", s.shown)
	}
}
