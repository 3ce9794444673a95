package executor

import "fmt"

// outsideStatus are exit codes of programs that Windows ends, or does not let start, for its own
// reasons: at a shutdown, when a session ends, after Ctrl-C, or when the desktop cannot take one
// more program. They are not the application's fault.
//
// Source: BOINC client/app_control.cpp, ACTIVE_TASK::handle_exited_app.
var outsideStatus = map[uint32]string{
	0xC000013A: "stopped from outside",
	0x40010004: "ended by the system",
	0xC0000142: "a library could not be initialized",
	0xC000026B: "Windows was shutting down",
}

// crashStatus contains the most common exit codes with which Windows reports a program's crash.
//
// Source: Microsoft, [MS-ERREF] 2.3.1.
var crashStatus = map[uint32]string{
	0x80000003: "breakpoint",
	0x80000004: "single step",
	0xC0000005: "access violation",
	0xC0000006: "a file that it had mapped could not be read",
	0xC0000008: "invalid handle",
	0xC0000017: "out of memory",
	0xC000001D: "illegal instruction: this processor may lack one that the program uses",
	0xC0000025: "an exception that could not be continued",
	0xC000007B: "a library is damaged or for another kind of computer",
	0xC000008C: "array bounds exceeded",
	0xC000008E: "floating-point division by zero",
	0xC0000090: "invalid floating-point operation",
	0xC0000094: "integer division by zero",
	0xC0000096: "privileged instruction",
	0xC00000FD: "stack overflow",
	0xC000012D: "out of memory: the page file is too small",
	0xC0000135: "a library is missing",
	0xC0000138: "a library lacks a function",
	0xC0000139: "a library lacks a function",
	0xC0000374: "heap corruption",
	0xC0000409: "stack overrun detected",
	0xC0000420: "assertion failed",
	0xE06D7363: "unhandled C++ exception",
}

// exitMessage returns a text with the exit code of a process, in the form that a server's pages
// show, and an explanation if the code is one of Windows.
func exitMessage(code int) string {
	if code >= 0 && code < 1<<16 {
		return fmt.Sprintf("process exited with code %d (0x%x, %d)", code, code, code-256)
	}
	text := fmt.Sprintf("process exited with code %d (0x%x)", code, uint32(code)) //nolint:gosec // Windows' codes have 32 bits
	if cause := crashCause(code); cause != "" {
		text += ": " + cause
	}
	return text
}

// crashCause returns the cause of a crash on Windows, or "" if the exit code is not one of a crash.
func crashCause(code int) string {
	return crashStatus[uint32(code)] //nolint:gosec // Windows' codes have 32 bits
}
