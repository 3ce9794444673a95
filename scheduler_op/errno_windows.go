package schedulerop

import "syscall"

// Windows' own numbers, which the portable ones do not match.
var (
	refused     = []syscall.Errno{10061}               // WSAECONNREFUSED
	unreachable = []syscall.Errno{10050, 10051, 10065} // WSAENETDOWN, WSAENETUNREACH, WSAEHOSTUNREACH
	lost        = []syscall.Errno{10053, 10054}        // WSAECONNABORTED, WSAECONNRESET
)
