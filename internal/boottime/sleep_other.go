//go:build !linux && !darwin

package boottime

import "time"

// sleep reports that sleep cannot be measured here.
func sleep() (time.Duration, bool) { return 0, false }
