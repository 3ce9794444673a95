//go:build !linux && !windows && !darwin

package hostinfo

import (
	"time"

	"github.com/starling-grid/starling/prefs"
)

// Idle returns false: this cannot be determined on this system.
func Idle(time.Time) (idle time.Duration, by string, ok bool) { return 0, "", false }

func onBattery() prefs.Sense { return prefs.Unknown }
