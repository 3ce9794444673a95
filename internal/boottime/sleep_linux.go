package boottime

import (
	"time"

	"golang.org/x/sys/unix"
)

// sleep returns the time that the computer has slept since it started.
func sleep() (time.Duration, bool) {
	var all, awake unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &awake) != nil || unix.ClockGettime(unix.CLOCK_BOOTTIME, &all) != nil {
		return 0, false
	}
	return time.Duration(all.Nano() - awake.Nano()), true
}
