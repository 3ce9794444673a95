package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/godbus/dbus/v5"
	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xproto"
)

// A seat has a desktop's screen, a mouse, and a keyboard with the keys "a", "Down" and "Return".
type seat interface {
	shot(context.Context) (image.Image, error)
	click(ctx context.Context, x, y int) error
	key(ctx context.Context, name string) error
}

// findIcon returns the middle of Starling's icon on a screen: its background with two birds, which are
// thin, so that panels that make the icon small mix their colors with the background's.
func findIcon(img image.Image) (x, y int, err error) {
	ground, birds := color.RGBA{0x15, 0x40, 0x3f, 0xff}, [2]color.RGBA{{0x7f, 0xd6, 0xc2, 0xff}, {0xc4, 0xb5, 0xfd, 0xff}}
	box, grounds, seen := image.Rectangle{}, 0, [2]int{}
	each(img.Bounds(), func(i, j int) {
		if near(img.At(i, j), ground, 3) {
			box, grounds = box.Union(image.Rect(i, j, i+1, j+1)), grounds+1
		}
	})
	each(box, func(i, j int) {
		for n := range birds {
			if near(img.At(i, j), birds[n], 60) {
				seen[n]++
			}
		}
	})
	if grounds < 60 || seen[0] == 0 || seen[1] == 0 || box.Dx() > 64 || box.Dy() > 64 {
		return 0, 0, fmt.Errorf("no icon: %d pixels of its background in %v, with %v pixels of its birds", grounds, box, seen)
	}
	return (box.Min.X + box.Max.X) / 2, (box.Min.Y + box.Max.Y) / 2, nil
}

// each calls f with each pixel.
func each(r image.Rectangle, f func(x, y int)) {
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			f(x, y)
		}
	}
}

// near reports whether each part of a color differs from the wanted one by some steps at most.
func near(c color.Color, want color.RGBA, steps uint8) bool {
	got, _ := color.RGBAModel.Convert(c).(color.RGBA)
	differ := func(a, b uint8) uint8 { return max(a, b) - min(a, b) }
	return max(differ(got.R, want.R), differ(got.G, want.G), differ(got.B, want.B)) <= steps
}

// changed returns the number of pixels in which two pictures differ.
func changed(a, b image.Image) (n int) {
	each(a.Bounds(), func(x, y int) {
		if a.At(x, y) != b.At(x, y) {
			n++
		}
	})
	return n
}

// A gnomeSeat is the screen of GNOME Shell, with the mouse and the keyboard of a remote desktop.
type gnomeSeat struct {
	*bench
	session dbus.ObjectPath
}

func newGNOMESeat(_ *testing.T, b *bench) seat { return &gnomeSeat{bench: b} }

func (g *gnomeSeat) shot(ctx context.Context) (image.Image, error) {
	const name = "org.gnome.Shell.Screenshot"
	var ok bool
	var file string
	err := g.bus.Object(name, "/org/gnome/Shell/Screenshot").CallWithContext(ctx, name+".Screenshot", 0, false, false, filepath.Join(g.dir, "shot.png")).Store(&ok, &file)
	if err != nil || !ok {
		return nil, errors.Join(err, errors.New("no picture"))
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return png.Decode(f)
}

// act calls a method of the remote desktop's session, which it starts at first.
func (g *gnomeSeat) act(ctx context.Context, method string, args ...any) error {
	const name = "org.gnome.Mutter.RemoteDesktop"
	if g.session == "" {
		if err := g.bus.Object(name, "/org/gnome/Mutter/RemoteDesktop").CallWithContext(ctx, name+".CreateSession", 0).Store(&g.session); err != nil {
			return err
		}
		if err := g.act(ctx, "Start"); err != nil {
			return err
		}
	}
	return g.bus.Object(name, g.session).CallWithContext(ctx, name+".Session."+method, 0, args...).Err
}

func (g *gnomeSeat) click(ctx context.Context, x, y int) error {
	const far, left = 5000.0, int32(272)
	return errors.Join(
		g.act(ctx, "NotifyPointerMotionRelative", far, far), // into the corner of 800 by 600
		g.act(ctx, "NotifyPointerMotionRelative", float64(x-799), float64(y-599)),
		g.act(ctx, "NotifyPointerButton", left, true),
		g.act(ctx, "NotifyPointerButton", left, false),
	)
}

func (g *gnomeSeat) key(ctx context.Context, name string) error {
	code := map[string]uint32{"a": 30, "Down": 108, "Return": 28}[name] // of the kernel
	return errors.Join(g.act(ctx, "NotifyKeyboardKeycode", code, true), g.act(ctx, "NotifyKeyboardKeycode", code, false))
}

// An xSeat is at an X server.
type xSeat struct {
	*bench
	conn   *xgb.Conn
	number string
}

func newXSeat(t *testing.T, b *bench) seat {
	n, err := b.xServer()
	must(t, err)
	xgb.Logger.SetOutput(io.Discard) // it would repeat returned errors
	conn, err := xgb.NewConnDisplay(filepath.Join(b.dir, "x11", "x:"+n))
	must(t, err)
	t.Cleanup(conn.Close)
	return xSeat{b, conn, n}
}

func (x xSeat) shot(context.Context) (image.Image, error) {
	root := xproto.Setup(x.conn).DefaultScreen(x.conn)
	got, err := xproto.GetImage(x.conn, xproto.ImageFormatZPixmap, xproto.Drawable(root.Root), 0, 0, root.WidthInPixels, root.HeightInPixels, 1<<32-1).Reply()
	if err != nil {
		return nil, err
	}
	img := image.NewRGBA(image.Rect(0, 0, int(root.WidthInPixels), int(root.HeightInPixels)))
	for i := 0; i+3 < len(got.Data); i += 4 { // blue, green, red
		img.Pix[i], img.Pix[i+1], img.Pix[i+2], img.Pix[i+3] = got.Data[i+2], got.Data[i+1], got.Data[i], 0xff
	}
	return img, nil
}

func (x xSeat) click(ctx context.Context, at, y int) error {
	return x.act(ctx, fmt.Sprintf("mousemove %d %d click 1", at, y))
}

func (x xSeat) key(ctx context.Context, name string) error { return x.act(ctx, "key "+name) }

// act simulates input.
func (x xSeat) act(ctx context.Context, what string) error {
	_, err := x.do(ctx, "DISPLAY=:"+x.number+" xdotool "+what)
	return err
}
