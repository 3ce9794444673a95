package hostinfo

import (
	"bytes"
	"context"
	"os/exec"
	"regexp"
	"strconv"
	"time"

	"github.com/starling-grid/starling/prefs"
)

var hidIdle = regexp.MustCompile(`"HIDIdleTime" = (\d+)`)

// Idle returns the time since the computer was last used, and the source of that information.
func Idle(time.Time) (idle time.Duration, by string, ok bool) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, "/usr/sbin/ioreg", "-c", "IOHIDSystem", "-d", "4").Output()
	if err != nil {
		return 0, "", false
	}
	m := hidIdle.FindSubmatch(out)
	if m == nil {
		return 0, "", false
	}
	ns, err := strconv.ParseInt(string(m[1]), 10, 64)
	return time.Duration(ns), "IOHIDSystem", err == nil
}

// onBattery reports whether the computer runs on its battery.
func onBattery() prefs.Sense {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, "/usr/bin/pmset", "-g", "batt").Output()
	switch {
	case err != nil || !bytes.Contains(out, []byte("InternalBattery")):
		return prefs.Unknown
	case bytes.Contains(out, []byte("'Battery Power'")):
		return prefs.Yes
	}
	return prefs.No
}
