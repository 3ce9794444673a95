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
	conn, err := dbus.ConnectSessionBus(dbus.WithContext(ctx))
	if err != nil {
		return err
	}
	defer conn.Close()
	ctx, hide := context.WithCancel(ctx)
	defer hide()
	m := &menu{ctx: ctx, agent: a, browse: browse, hide: hide, changed: func(revision uint32) {
		_ = conn.Emit(menuPath, menuName+".LayoutUpdated", revision, int32(0))
	}}
	m.refresh()
	if err := export(conn, m); err != nil {
		return err
	}
	signals := make(chan *dbus.Signal, 16)
	conn.Signal(signals)
	if err := conn.AddMatchSignal(dbus.WithMatchSender("org.freedesktop.DBus"), dbus.WithMatchInterface("org.freedesktop.DBus"),
		dbus.WithMatchMember("NameOwnerChanged"), dbus.WithMatchArg(0, watcher)); err != nil {
		return err
	}
	for {
		// Without a panel this fails, and the next signal announces one.
		_ = conn.Object(watcher, watcherPath).CallWithContext(ctx, watcher+".RegisterStatusNotifierItem", dbus.FlagNoAutoStart, conn.Names()[0]).Err
		select {
		case <-ctx.Done():
			return nil
		case _, ok := <-signals:
			if !ok {
				return errors.New("the session bus has ended")
			}
		}
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
