package namedmem

import (
	"errors"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/windows"
)

// ErrExists is returned if the name is already in use.
var ErrExists = errors.New("memory of this name exists already")

// Memory is a view of shared memory. The memory lasts until all processes that opened it have
// closed it or ended.
type Memory struct {
	mapping windows.Handle
	bytes   []byte
}

var (
	kernel32        = windows.NewLazySystemDLL("kernel32.dll")
	openFileMapping = kernel32.NewProc("OpenFileMappingW")
)

const allAccess = windows.FILE_MAP_READ | windows.FILE_MAP_WRITE

// Create makes memory of size bytes, all zero. Only the system's processes and this user's may open
// it, even with low integrity. The error is ErrExists if the name is in use.
func Create(name string, size int) (*Memory, error) {
	text, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return nil, err
	}
	me, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return nil, os.NewSyscallError("GetTokenInformation", err)
	}
	sd, err := windows.SecurityDescriptorFromString(fmt.Sprintf("D:P(A;;GA;;;%s)(A;;GA;;;SY)S:(ML;;NW;;;LW)", me.User.Sid))
	if err != nil {
		return nil, err
	}
	sa := windows.SecurityAttributes{SecurityDescriptor: sd}
	sa.Length = uint32(unsafe.Sizeof(sa))
	h, err := windows.CreateFileMapping(windows.InvalidHandle, &sa, windows.PAGE_READWRITE, 0, uint32(size), text) //nolint:gosec // some pages
	switch {
	case errors.Is(err, windows.ERROR_ALREADY_EXISTS):
		_ = windows.CloseHandle(h)
		return nil, ErrExists
	case errors.Is(err, windows.ERROR_ACCESS_DENIED), errors.Is(err, windows.ERROR_INVALID_HANDLE): // another user's, or not memory
		return nil, fmt.Errorf("%w: %w", ErrExists, err)
	case err != nil:
		return nil, os.NewSyscallError("CreateFileMapping", err)
	}
	return view(h, size)
}

// Open returns the memory of that name, which must have at least size bytes.
func Open(name string, size int) (*Memory, error) {
	text, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return nil, err
	}
	h, _, err := openFileMapping.Call(allAccess, 0, uintptr(unsafe.Pointer(text))) //nolint:gosec // as the system wants it
	if h == 0 {
		return nil, fmt.Errorf("open shared memory %s: %w", name, err)
	}
	return view(windows.Handle(h), size)
}

func view(h windows.Handle, size int) (*Memory, error) {
	at, err := windows.MapViewOfFile(h, allAccess, 0, 0, uintptr(size))
	if err != nil {
		_ = windows.CloseHandle(h)
		return nil, os.NewSyscallError("MapViewOfFile", err)
	}
	// The detour by a pointer to the address is safe, because Go does not own the memory and does
	// not move it.
	p := *(*unsafe.Pointer)(unsafe.Pointer(&at))                           //nolint:gosec // see above
	return &Memory{mapping: h, bytes: unsafe.Slice((*byte)(p), size)}, nil //nolint:gosec // as long as was asked for
}

// Bytes is the memory. It must not be touched after Close.
func (m *Memory) Bytes() []byte { return m.bytes }

// Close gives the memory up.
func (m *Memory) Close() error {
	err := windows.UnmapViewOfFile(uintptr(unsafe.Pointer(&m.bytes[0]))) //nolint:gosec // as the system wants it
	m.bytes = nil
	return errors.Join(err, windows.CloseHandle(m.mapping))
}
