// Package winsession decides from the sessions of a Windows computer, both at its screen and by
// Remote Desktop, whether somebody uses it. A service cannot see this from its session, which has
// no input.
//
// The package takes the sessions from agent/hostinfo, which asks the system.
package winsession

import (
	"encoding/binary"
	"fmt"
	"time"
)

// The states of sessions that people have.
const (
	Active       = 0
	Disconnected = 4
)

// A Session is Windows' description of a session. Unknown times are zero.
type Session struct {
	State uint32
	User  bool      // somebody is logged on
	Left  time.Time // it was disconnected last
	Input time.Time // its last input, which may be minutes behind for that at the screen
	Now   time.Time // time of the description
}

// Where things are in a WTSINFOW.
//
// Source: Microsoft's documentation of WTSINFOW, and MinGW-w64's wtsapi32.h.
const (
	state      = 0
	user       = 130 // 21 characters
	disconnect = 184
	lastInput  = 192
	current    = 208
	size       = 216
)

// Parse reads what WTSQuerySessionInformation answers when asked for WTSSessionInfo.
func Parse(b []byte) (s Session, err error) {
	if len(b) < size {
		return s, fmt.Errorf("session information has %d bytes, want %d", len(b), size)
	}
	s.State, s.User = binary.LittleEndian.Uint32(b[state:]), b[user] != 0 || b[user+1] != 0
	s.Left, s.Input, s.Now = moment(b[disconnect:]), moment(b[lastInput:]), moment(b[current:])
	return s, nil
}

// moment is a time in tenths of microseconds since 1601, UTC.
func moment(b []byte) time.Time {
	const epoch = 116444736000000000              // 1970
	ticks := int64(binary.LittleEndian.Uint64(b)) //nolint:gosec // Windows' own number
	if ticks <= 0 {
		return time.Time{}
	}
	return time.Unix(0, 0).UTC().Add(time.Duration(ticks-epoch) * 100)
}

// Idle returns the time for which the computer has not been used. It is the time since the last
// input in any session, or since the last session was disconnected. If nobody is logged on it is
// up, the time since the computer was turned on. ok is false if Windows does not provide the times.
func Idle(all []Session, up time.Duration) (idle time.Duration, ok bool) {
	anybody := false
	for _, s := range all {
		if !s.User || s.State != Active && s.State != Disconnected {
			continue
		}
		anybody = true
		last := s.Input
		if s.State == Disconnected && s.Left.After(last) {
			last = s.Left
		}
		if last.IsZero() || s.Now.IsZero() {
			continue
		}
		if d := max(0, s.Now.Sub(last)); !ok || d < idle {
			idle, ok = d, true
		}
	}
	if !anybody {
		return up, true
	}
	return idle, ok
}
