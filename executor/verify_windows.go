package executor

import (
	"encoding/binary"
	"os"

	"golang.org/x/sys/windows"
)

// entryChanged returns the time at which a file's content, attributes or name last changed, in units of 100 ns
// since 1601, or 0 if it is not known. os.FileInfo lacks this time on Windows.
func entryChanged(path string, _ os.FileInfo) int64 {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return 0
	}
	const anyone = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE
	h, err := windows.CreateFile(name, windows.FILE_READ_ATTRIBUTES, anyone, nil, windows.OPEN_EXISTING, 0, 0)
	if err != nil {
		return 0
	}
	defer func() { _ = windows.CloseHandle(h) }()
	const size = 40 // of FILE_BASIC_INFO: the times of creation, access, writing and change, and attributes
	basic := make([]byte, size)
	if err := windows.GetFileInformationByHandleEx(h, windows.FileBasicInfo, &basic[0], size); err != nil {
		return 0
	}
	return int64(binary.LittleEndian.Uint64(basic[24:])) //nolint:gosec // a number to compare
}
