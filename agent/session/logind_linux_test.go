package session

import "github.com/godbus/dbus/v5"

// logind is a log-in manager with a script.
type logind []login

// ListSessions lists them.
func (l logind) ListSessions() ([]login, *dbus.Error) { return l, nil }
