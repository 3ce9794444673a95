//go:build !linux && !windows && !darwin

package hostinfo

import (
	"time"

	"github.com/starling-grid/starling/prefs"
)

// Idle is not known here.
func Idle(time.Time) (idle time.Duration, by string, ok bool) { return 0, "", false }

// Unseen reports whether somebody uses the computer where that cannot be seen: never, here.
func Unseen() bool { return false }

// IdleSources lists what tells here whether the computer is in use: nothing.
func IdleSources() []string { return nil }

func metered() prefs.Sense { return prefs.Unknown }

func onBattery() prefs.Sense { return prefs.Unknown }
