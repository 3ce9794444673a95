package session

import (
	"os/user"
	"strconv"

	"github.com/starling-grid/starling/internal/bus"
)

// person returns the user of a session. The user needs a session at the computer or a remote one.
// Without logind every local user counts.
//
// Source: org.freedesktop.login1(5).
func person(uid int, session string) (Person, error) {
	p := Person{UID: uid, Name: "user " + strconv.Itoa(uid)}
	if u, err := user.LookupId(strconv.Itoa(uid)); err == nil {
		p.Name = u.Username
	}
	var all []login
	if err := bus.System.Call("org.freedesktop.login1", "/org/freedesktop/login1", "org.freedesktop.login1.Manager.ListSessions", &all); err != nil {
		return p, nil
	}
	return admit(p, session, all, class)
}

// class returns the class of a session: people's begin with "user".
func class(l login) string {
	var class string
	_ = bus.System.Property("org.freedesktop.login1", l.Path, "org.freedesktop.login1.Session", "Class", &class)
	return class
}
