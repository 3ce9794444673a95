package namedmem

import (
	"fmt"
	"os"
	"testing"
	"unsafe"

	"golang.org/x/sys/windows"
)

// A program of low integrity, which tasks are, can write to the memory.
func TestTheLabel(t *testing.T) {
	m, err := Create(fmt.Sprintf("starling_label_%d", os.Getpid()), 4096)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	sd, err := windows.GetSecurityInfo(m.mapping, windows.SE_KERNEL_OBJECT, windows.LABEL_SECURITY_INFORMATION)
	if err != nil {
		t.Fatal(err)
	}
	list, _, err := sd.SACL()
	if err != nil {
		t.Fatal(err)
	}
	const mandatoryLabel, noWriteUp, low = 0x11, 0x1, "S-1-16-4096"
	var ace *windows.ACCESS_ALLOWED_ACE // which has the same shape
	if err := windows.GetAce(list, 0, &ace); err != nil {
		t.Fatal(err)
	}
	if sid := (*windows.SID)(unsafe.Pointer(&ace.SidStart)); ace.Header.AceType != mandatoryLabel || ace.Mask != noWriteUp || sid.String() != low {
		t.Errorf("got type %#x, mask %#x, %s", ace.Header.AceType, ace.Mask, sid)
	}
}
