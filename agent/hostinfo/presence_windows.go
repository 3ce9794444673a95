package hostinfo

import (
	"time"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/starling-grid/starling/internal/winsession"
	"github.com/starling-grid/starling/prefs"
)

var (
	user32           = windows.NewLazySystemDLL("user32.dll")
	getLastInputInfo = user32.NewProc("GetLastInputInfo")
	kernel32         = windows.NewLazySystemDLL("kernel32.dll")
	getTickCount     = kernel32.NewProc("GetTickCount")
	getPowerStatus   = kernel32.NewProc("GetSystemPowerStatus")
)

// Idle returns the time since the computer was last used. A service examines the sessions of all
// users, other agents only their own. by is the source, and ok is false if Windows does not report
// a time.
func Idle(time.Time) (idle time.Duration, by string, ok bool) {
	if isService() {
		all, err := sessions()
		if err != nil {
			return 0, "", false
		}
		idle, ok = winsession.Idle(all, windows.DurationSinceBoot())
		return idle, "the sessions of all users", ok
	}
	info := struct{ size, at uint32 }{size: 8}
	if r, _, _ := getLastInputInfo.Call(uintptr(unsafe.Pointer(&info))); r == 0 { //nolint:gosec // as the system wants it
		return 0, "", false
	}
	now, _, _ := getTickCount.Call()
	return time.Duration(uint32(now)-info.at) * time.Millisecond, "GetLastInputInfo", true //nolint:gosec // wraps every 49 days, on purpose
}

// onBattery reports whether the computer runs on its battery.
func onBattery() prefs.Sense {
	var s struct {
		line, battery, percent, saver byte
		left, full                    uint32
	}
	if r, _, _ := getPowerStatus.Call(uintptr(unsafe.Pointer(&s))); r == 0 { //nolint:gosec // as the system wants it
		return prefs.Unknown
	}
	switch s.line {
	case 0:
		return prefs.Yes
	case 1:
		return prefs.No
	}
	return prefs.Unknown
}
