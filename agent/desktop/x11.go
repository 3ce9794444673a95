package desktop

import (
	"errors"
	"io"
	"os"
	"time"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/screensaver"
	"github.com/jezek/xgb/xproto"

	"github.com/starling-grid/starling/internal/wayland"
)

// x11 is an X server.
type x11 struct {
	conn   *xgb.Conn
	root   xproto.Drawable
	pushes bool
}

// x11Display returns the X server of the session. It returns "" in a Wayland session, where
// Xwayland sees the input of X11 programs only.
func x11Display() string {
	if wayland.Socket() != "" {
		return ""
	}
	return os.Getenv("DISPLAY")
}

func openX11(display string, returned func()) (watch, error) {
	xgb.Logger.SetOutput(io.Discard) // it would repeat returned errors on standard error
	conn, err := xgb.NewConnDisplay(display)
	if err != nil {
		return nil, err
	}
	if err := screensaver.Init(conn); err != nil {
		conn.Close()
		return nil, err
	}
	x := &x11{conn: conn, root: xproto.Drawable(xproto.Setup(conn).DefaultScreen(conn).Root)}
	x.pushes = alarm(conn) == nil
	go func() {
		for {
			e, fault := conn.WaitForEvent()
			if e != nil || fault == nil { // the alarm, or the end of the connection
				returned()
			}
			if e == nil && fault == nil {
				return
			}
		}
	}()
	return x, nil
}

// Pushes reports whether it reports the return of people.
func (x *x11) Pushes() bool { return x.pushes }

// Idle asks it.
func (x *x11) Idle(time.Time) (time.Duration, error) {
	info, err := screensaver.QueryInfo(x.conn, x.root).Reply()
	if err != nil {
		return 0, err
	}
	if info == nil {
		return 0, errors.New("the X server has ended")
	}
	return time.Duration(info.MsSinceUserInput) * time.Millisecond, nil
}

// Close ends the connection.
func (x *x11) Close() error {
	x.conn.Close()
	return nil
}
