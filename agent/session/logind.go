package session

import (
	"fmt"
	"strings"

	"github.com/godbus/dbus/v5"
)

// A login is a session as logind lists it.
type login struct {
	ID   string
	UID  uint32
	User string
	Seat string // "": none
	Path dbus.ObjectPath
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
