package control

import (
	"errors"
	"os"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/starling-grid/starling/internal/words"
)

// admission returns the remedy for a user whose requests the agent refuses.
func admission(dataDir string) words.Text {
	return words.T("try again in a terminal that was opened with \"Run as administrator\". To control the agent yourself, have an administrator run: icacls \"{dir}\" /grant \"{user}:(OI)(CI)M\" and then: starling service restart",
		"dir", dataDir, "user", os.Getenv("USERNAME"))
}

// modify are the rights to do anything with a file except changing its permissions.
const modify = windows.FILE_GENERIC_READ | windows.FILE_GENERIC_WRITE | windows.FILE_GENERIC_EXECUTE | windows.DELETE

// granted returns the users who may change everything in the data directory because of an explicit
// grant, not because of the folder above. They can make the agent do what they want anyhow.
func granted(dataDir string) ([]*windows.SID, error) {
	sd, err := windows.GetNamedSecurityInfo(dataDir, windows.SE_FILE_OBJECT, windows.DACL_SECURITY_INFORMATION)
	if err != nil {
		return nil, err
	}
	return grantees(sd)
}

func grantees(sd *windows.SECURITY_DESCRIPTOR) (all []*windows.SID, err error) {
	list, _, err := sd.DACL()
	if errors.Is(err, windows.ERROR_OBJECT_NOT_FOUND) || err == nil && list == nil { // on file systems without permissions
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	for i := range uint32(list.AceCount) {
		var ace *windows.ACCESS_ALLOWED_ACE
		if err := windows.GetAce(list, i, &ace); err != nil {
			return nil, err
		}
		if ace.Header.AceType != windows.ACCESS_ALLOWED_ACE_TYPE || ace.Header.AceFlags&(windows.INHERITED_ACE|windows.INHERIT_ONLY_ACE) != 0 || ace.Mask&modify != modify {
			continue
		}
		sid, err := (*windows.SID)(unsafe.Pointer(&ace.SidStart)).Copy() //nolint:gosec // as the system has it
		if err != nil {
			return nil, err
		}
		all = append(all, sid)
	}
	return all, nil
}
