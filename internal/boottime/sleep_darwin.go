package boottime

import (
	"time"

	"golang.org/x/sys/unix"
)

// sleep returns the time that the computer has slept since it started.
//
// Source: the manual page clock_gettime(3) of macOS.
func sleep() (time.Duration, bool) {
	const uptimeRaw = 8 // CLOCK_UPTIME_RAW, time.h of macOS
	var all, awake unix.Timespec
	if unix.ClockGettime(uptimeRaw, &awake) != nil || unix.ClockGettime(unix.CLOCK_MONOTONIC_RAW, &all) != nil {
		return 0, false
	}
	return time.Duration(all.Nano() - awake.Nano()), true
}
