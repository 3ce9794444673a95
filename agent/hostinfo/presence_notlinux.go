//go:build !linux

package hostinfo

import (
	"time"

	"github.com/starling-grid/starling/prefs"
)

// Unseen reports whether somebody may be using the computer without being noticed. That is never
// the case on this system.
func Unseen() bool { return false }

// IdleSources lists the sources that report whether the computer is in use.
func IdleSources() []string {
	if _, by, ok := Idle(time.Now()); ok {
		return []string{by}
	}
	return nil
}

// metered returns Unknown: this is not determined on this system.
func metered() prefs.Sense { return prefs.Unknown }
