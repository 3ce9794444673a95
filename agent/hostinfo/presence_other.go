//go:build !linux && !windows && !darwin

package hostinfo

import (
	"time"

	"github.com/starling-grid/starling/prefs"
)

// Idle returns false: this cannot be determined on this system.
func Idle(time.Time) (idle time.Duration, by string, ok bool) { return 0, "", false }

// Unseen reports whether somebody may be using the computer without being noticed. It returns false
// on this system.
func Unseen() bool { return false }

// IdleSources lists the sources that report whether the computer is in use. There are none on this
// system.
func IdleSources() []string { return nil }

func metered() prefs.Sense { return prefs.Unknown }

func onBattery() prefs.Sense { return prefs.Unknown }
