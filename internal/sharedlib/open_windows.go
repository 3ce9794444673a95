package sharedlib

import "golang.org/x/sys/windows"

// open looks in the system's folder alone, where drivers put their libraries.
func open(name string) (uintptr, error) {
	h, err := windows.LoadLibraryEx(name, 0, windows.LOAD_LIBRARY_SEARCH_SYSTEM32)
	return uintptr(h), err
}

// Has reports whether the library has a function.
func (l Library) Has(name string) bool {
	at, err := windows.GetProcAddress(windows.Handle(l.handle), name)
	return err == nil && at != 0
}
