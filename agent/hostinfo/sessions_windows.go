package hostinfo

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/starling-grid/starling/internal/winsession"
)

var querySession = windows.NewLazySystemDLL("wtsapi32.dll").NewProc("WTSQuerySessionInformationW")

// services is the session of all services, which has neither keyboard nor mouse. A process in it
// only learns that the last input was when the computer started.
const services = 0

func isService() bool {
	var session uint32
	return windows.ProcessIdToSessionId(windows.GetCurrentProcessId(), &session) != nil || session == services
}

// sessions returns the sessions of people, at the screen and by Remote Desktop.
func sessions() (all []winsession.Session, err error) {
	var list *windows.WTS_SESSION_INFO
	var n uint32
	if err := windows.WTSEnumerateSessions(0, 0, 1, &list, &n); err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	defer windows.WTSFreeMemory(uintptr(unsafe.Pointer(list))) //nolint:gosec // as the system wants it
	for _, x := range unsafe.Slice(list, n) {                  //nolint:gosec // the system counted them
		if x.SessionID == services || x.State != winsession.Active && x.State != winsession.Disconnected {
			continue
		}
		s, err := session(x.SessionID)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// session returns one session.
func session(id uint32) (s winsession.Session, err error) {
	const sessionInfo = 24 // WTSSessionInfo
	var info *byte
	var size uint32
	r, _, err := querySession.Call(0, uintptr(id), sessionInfo, uintptr(unsafe.Pointer(&info)), uintptr(unsafe.Pointer(&size))) //nolint:gosec // as the system wants it
	if r == 0 {
		return s, fmt.Errorf("ask about session %d: %w", id, err)
	}
	defer windows.WTSFreeMemory(uintptr(unsafe.Pointer(info))) //nolint:gosec // as the system wants it
	return winsession.Parse(unsafe.Slice(info, size))          //nolint:gosec // as above
}
