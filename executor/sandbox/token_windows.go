package sandbox

import (
	"errors"
	"os"
	"unsafe"

	"golang.org/x/sys/windows"
)

// low is the security identifier of the integrity level at which programs can only change files
// that are labeled for them.
//
// Source: Microsoft, "Mandatory Integrity Control".
const low = "S-1-16-4096"

var createRestrictedToken = windows.NewLazySystemDLL("advapi32.dll").NewProc("CreateRestrictedToken")

// withoutPrivileges removes all privileges from a token except the one to pass through folders.
const withoutPrivileges = 0x1 // DISABLE_MAX_PRIVILEGE

// lowered returns this process's token without privileges and at low integrity. Since it derives
// from our own token, no privilege is needed to start a process with it. The caller must close it.
func lowered() (windows.Token, error) {
	var own windows.Token
	const rights = windows.TOKEN_DUPLICATE | windows.TOKEN_QUERY | windows.TOKEN_ADJUST_DEFAULT | windows.TOKEN_ASSIGN_PRIMARY
	if err := windows.OpenProcessToken(windows.CurrentProcess(), rights, &own); err != nil {
		return 0, os.NewSyscallError("OpenProcessToken", err)
	}
	defer own.Close()
	var token windows.Token
	if ok, _, err := createRestrictedToken.Call(uintptr(own), withoutPrivileges, 0, 0, 0, 0, 0, 0, uintptr(unsafe.Pointer(&token))); ok == 0 { //nolint:gosec // as the system wants it
		return 0, os.NewSyscallError("CreateRestrictedToken", err)
	}
	sid, err := windows.StringToSid(low)
	if err == nil {
		label := windows.Tokenmandatorylabel{Label: windows.SIDAndAttributes{Sid: sid, Attributes: windows.SE_GROUP_INTEGRITY}}
		err = os.NewSyscallError("SetTokenInformation", windows.SetTokenInformation(token, windows.TokenIntegrityLevel, (*byte)(unsafe.Pointer(&label)), label.Size())) //nolint:gosec // as the system wants it
	}
	if err != nil {
		return 0, errors.Join(err, token.Close())
	}
	return token, nil
}

// integrity returns the security identifier of a token's integrity level.
func integrity(t windows.Token) (string, error) {
	var n uint32
	_ = windows.GetTokenInformation(t, windows.TokenIntegrityLevel, nil, 0, &n) // returns the required size
	b := make([]byte, max(n, uint32(unsafe.Sizeof(windows.Tokenmandatorylabel{}))))
	if err := windows.GetTokenInformation(t, windows.TokenIntegrityLevel, &b[0], uint32(len(b)), &n); err != nil { //nolint:gosec // some bytes
		return "", os.NewSyscallError("GetTokenInformation", err)
	}
	return (*windows.Tokenmandatorylabel)(unsafe.Pointer(&b[0])).Label.Sid.String(), nil //nolint:gosec // as the system has it
}
