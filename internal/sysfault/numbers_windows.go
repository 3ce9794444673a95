package sysfault

import "syscall"

// Windows' own numbers, which the portable ones do not match.
var (
	diskFull    = []syscall.Errno{39, 112, 1295}       // ERROR_HANDLE_DISK_FULL, ERROR_DISK_FULL, ERROR_DISK_QUOTA_EXCEEDED
	diskFails   = []syscall.Errno{19, 21, 23, 1117}    // ERROR_WRITE_PROTECT, ERROR_NOT_READY, ERROR_CRC, ERROR_IO_DEVICE
	refused     = []syscall.Errno{10061}               // WSAECONNREFUSED
	unreachable = []syscall.Errno{10050, 10051, 10065} // WSAENETDOWN, WSAENETUNREACH, WSAEHOSTUNREACH
	lost        = []syscall.Errno{10053, 10054}        // WSAECONNABORTED, WSAECONNRESET
	taken       = []syscall.Errno{10013, 10048}        // WSAEACCES (if another user has the address), WSAEADDRINUSE
	foreign     = []syscall.Errno{10049}               // WSAEADDRNOTAVAIL
	noProcess   = []syscall.Errno{8, 14, 1455, 1816}   // ERROR_NOT_ENOUGH_MEMORY, ERROR_OUTOFMEMORY, ERROR_COMMITMENT_LIMIT, ERROR_NOT_ENOUGH_QUOTA
)
