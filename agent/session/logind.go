package session

import (
	"fmt"
	"os/user"
	"strconv"
	"strings"

	"github.com/godbus/dbus/v5"

	"github.com/starling-grid/starling/internal/bus"
)

// A login is a session as logind lists it.
type login struct {
	ID   string
	UID  uint32
	User string
	Seat string // "": none
	Path dbus.ObjectPath
}

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

// admit judges by the sessions that logind lists: by the one that was named if it is the user's,
// otherwise by all of the user's.
func admit(p Person, session string, all []login, class func(login) string) (Person, error) {
	here, remote := false, false
	for _, l := range all {
		if int(l.UID) != p.UID || l.Seat == "" && !strings.HasPrefix(class(l), "user") {
			continue
		}
		if l.ID == session {
			p.Remote = l.Seat == ""
			return p, nil
		}
		here, remote = here || l.Seat != "", remote || l.Seat == ""
	}
	if !here && !remote {
		return p, fmt.Errorf("%s is not logged in at this computer; run the helper in a desktop session", p.Name)
	}
	p.Remote = !here
	return p, nil
}

// class returns the class of a session: people's begin with "user".
func class(l login) string {
	var class string
	_ = bus.System.Property("org.freedesktop.login1", l.Path, "org.freedesktop.login1.Session", "Class", &class)
	return class
}
