// Package tray shows an icon with a menu in the panel of a desktop (StatusNotifierItem and
// com.canonical.dbusmenu, over D-Bus). It runs in the helper of a desktop session (starling session),
// with the rights of the session's user, and only if the agent's control socket admits that user.
//
// It does not poll: it asks the agent when the menu is opened.
//
//	tray.go    the icon
//	pixmap.go  its picture
//	menu.go    the menu
package tray

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/godbus/dbus/v5"
	"github.com/godbus/dbus/v5/prop"
	"golang.org/x/time/rate"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/prefs"
)

// An Agent is the part of a control.Client that the menu needs.
type Agent interface {
	Desktop(ctx context.Context) (control.Desktop, error)
	SetMode(ctx context.Context, what control.Activity, kind prefs.ModeKind, d time.Duration) error
	Dashboard(ctx context.Context) (address string, err error)
}

// The objects and interfaces.
//
// Source: StatusNotifierItem specification, and dbus-menu.xml of libdbusmenu.
const (
	watcher     = "org.kde.StatusNotifierWatcher"
	watcherPath = "/StatusNotifierWatcher"
	item        = "org.kde.StatusNotifierItem"
	itemPath    = "/StatusNotifierItem"
	menuName    = "com.canonical.dbusmenu"
	menuPath    = "/StatusNotifierItem/Menu"

	busName      = "org.freedesktop.DBus"
	ownerChanged = "NameOwnerChanged"
)

// The limits on registrations with a panel: the time for its answer, and the number after which there
// is one a second, as a panel that is failing may start again and again.
const (
	registering   = 10 * time.Second
	registrations = 5
)

type tooltip struct {
	Icon        string
	Pixmaps     []pixmap
	Title, Text string
}

// Show shows the icon until ctx or the session ends, or the volunteer turns it off. browse opens an address in a browser. The error
// is the reason for a missing icon. A panel that starts later gets it, too.
func Show(ctx context.Context, a Agent, browse func(ctx context.Context, address string)) error {
	if os.Getenv("DBUS_SESSION_BUS_ADDRESS") == "" {
		return errors.New("no session bus")
	}
	panels := make(panels, 1)
	conn, err := dbus.ConnectSessionBus(dbus.WithContext(ctx), dbus.WithSignalHandler(panels))
	if err != nil {
		return err
	}
	defer conn.Close()
	ctx, hide := context.WithCancel(ctx)
	defer hide()
	m := &menu{ctx: ctx, agent: a, browse: browse, hide: hide, clicks: make(chan func(context.Context) error, maxClicks), changed: func(revision uint32) {
		_ = conn.Emit(menuPath, menuName+".LayoutUpdated", revision, int32(0))
	}}
	m.opened()
	go m.carryOut()
	if err := export(conn, m); err != nil {
		return err
	}
	if err := conn.AddMatchSignal(dbus.WithMatchSender(busName), dbus.WithMatchInterface(busName),
		dbus.WithMatchMember(ownerChanged), dbus.WithMatchArg(0, watcher)); err != nil {
		return err
	}
	limit := rate.NewLimiter(1, registrations)
	for {
		register(ctx, conn)
		select {
		case <-ctx.Done():
			return nil
		case <-conn.Context().Done():
			if ctx.Err() != nil {
				return nil
			}
			return errors.New("the session bus has ended")
		case <-panels:
			_ = limit.Wait(ctx)
		}
	}
}

// register shows the icon in the panel. Without a panel this fails, and the next signal announces one.
func register(ctx context.Context, conn *dbus.Conn) {
	ctx, cancel := context.WithTimeout(ctx, registering)
	defer cancel()
	_ = conn.Object(watcher, watcherPath).CallWithContext(ctx, watcher+".RegisterStatusNotifierItem", dbus.FlagNoAutoStart, conn.Names()[0]).Err
}

// panels receives a value when a panel has started or ended, once for many at the same time.
type panels chan struct{}

// DeliverSignal takes signals of the bus. Other programs can send signals, too, which are ignored.
func (p panels) DeliverSignal(_, _ string, s *dbus.Signal) {
	if s.Sender != busName || s.Name != busName+"."+ownerChanged {
		return
	}
	select {
	case p <- struct{}{}:
	default:
	}
}

// export puts the icon and the menu on the bus.
func export(conn *dbus.Conn, m *menu) error {
	fixed := func(v any) *prop.Prop { return &prop.Prop{Value: v, Emit: prop.EmitFalse} }
	for _, o := range []struct {
		path, iface string
		methods     any
		values      map[string]*prop.Prop
	}{
		{itemPath, item, icon{}, map[string]*prop.Prop{
			"Category": fixed("ApplicationStatus"), "Id": fixed("starling"), "Title": fixed("Starling"), "Status": fixed("Active"),
			"IconName": fixed("starling"), "IconPixmap": fixed(pixmaps()), "IconThemePath": fixed(""),
			"AttentionIconName": fixed(""), "OverlayIconName": fixed(""),
			"ToolTip": fixed(tooltip{Icon: "starling", Pixmaps: []pixmap{}, Title: "Starling"}), "ItemIsMenu": fixed(true), "Menu": fixed(dbus.ObjectPath(menuPath)),
		}},
		{menuPath, menuName, m, map[string]*prop.Prop{
			"Version": fixed(uint32(3)), "TextDirection": fixed("ltr"), "Status": fixed("normal"), "IconThemePath": fixed([]string{}),
		}},
	} {
		if err := conn.Export(o.methods, dbus.ObjectPath(o.path), o.iface); err != nil {
			return err
		}
		if _, err := prop.Export(conn, dbus.ObjectPath(o.path), prop.Map{o.iface: o.values}); err != nil {
			return err
		}
	}
	return nil
}

// An icon has the methods of StatusNotifierItem. A panel that ignores ItemIsMenu calls them for
// clicks, and nothing happens.
type icon struct{}

// Activate does nothing.
func (icon) Activate(_, _ int32) *dbus.Error { return nil }

// SecondaryActivate does nothing.
func (icon) SecondaryActivate(_, _ int32) *dbus.Error { return nil }

// ContextMenu does nothing: the panel shows the menu.
func (icon) ContextMenu(_, _ int32) *dbus.Error { return nil }

// Scroll does nothing.
func (icon) Scroll(int32, string) *dbus.Error { return nil }
