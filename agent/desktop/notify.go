package desktop

import (
	"html"
	"slices"

	"github.com/starling-grid/starling/internal/bus"
)

// Notify shows a notification of plain text in the session.
//
// Source: Desktop Notifications Specification 1.2.
func Notify(title, text string) error {
	const name, path, iface = "org.freedesktop.Notifications", "/org/freedesktop/Notifications", "org.freedesktop.Notifications."
	var can []string
	if err := bus.Session.Start(name, path, iface+"GetCapabilities", &can); err != nil {
		return err
	}
	if slices.Contains(can, "body-markup") {
		text = html.EscapeString(text)
	}
	hints := map[string]any{"desktop-entry": "starling"}
	var id uint32
	return bus.Session.Start(name, path, iface+"Notify", &id, "Starling", uint32(0), "starling", title, text, []string{}, hints, int32(-1))
}
