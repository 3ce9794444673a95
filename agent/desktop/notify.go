package desktop

import (
	"html"
	"slices"

	"github.com/starling-grid/starling/internal/bus"
)

// The service that shows notifications.
//
// Source: Desktop Notifications Specification 1.2.
const (
	notifications     = "org.freedesktop.Notifications"
	notificationsPath = "/org/freedesktop/Notifications"
)

// Notify shows a notification of plain text in the session.
func Notify(title, text string) error {
	can, err := capabilities()
	if err != nil {
		return err
	}
	if slices.Contains(can, "body-markup") {
		text = html.EscapeString(text)
	}
	hints := map[string]any{"desktop-entry": "starling"}
	var id uint32
	return bus.Notices.Start(notifications, notificationsPath, notifications+".Notify", &id, "Starling", uint32(0), "starling", title, text, []string{}, hints, int32(-1))
}

// Notifies returns the reason why the session shows no notifications, or nil if it does.
func Notifies() error {
	_, err := capabilities()
	return err
}

func capabilities() (can []string, err error) {
	err = bus.Notices.Start(notifications, notificationsPath, notifications+".GetCapabilities", &can)
	return can, err
}
