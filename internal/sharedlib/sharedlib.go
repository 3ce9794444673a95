// Package sharedlib loads shared libraries, such as drivers, without cgo.
//
// A program that imports it needs the system's C library and is no longer a static one,
// and its runtime no longer changes all threads of the process at once, on which the
// sandbox of applications relies. So neither the agent nor the server may import it: what
// needs a driver is a program of its own.
package sharedlib

import (
	"cmp"
	"fmt"

	"github.com/ebitengine/purego"
)

// A Library is a shared library that was loaded. It stays until the process ends.
type Library struct {
	Name   string // by which it was found
	handle uintptr
}

// Open loads the first of the named libraries that there is. The error tells why the first
// could not be loaded.
func Open(names ...string) (Library, error) {
	var first error
	for _, name := range names {
		handle, err := open(name)
		if err == nil {
			return Library{Name: name, handle: handle}, nil
		}
		first = cmp.Or(first, err)
	}
	return Library{}, first
}

// Func makes *fn, a function, the library's function of that name. The types must be those
// of C: there is nothing to check them by.
func (l Library) Func(fn any, name string) error {
	if !l.Has(name) {
		return fmt.Errorf("%s has no function %s", l.Name, name)
	}
	purego.RegisterLibFunc(fn, l.handle, name)
	return nil
}

// An Error is what a function of a library answers when it fails.
type Error struct {
	Function string
	Code     int32
	Text     string // "": the code says nothing to people
}

// Error implements error.
func (e *Error) Error() string {
	if e.Text != "" {
		return fmt.Sprintf("%s: %s (%d)", e.Function, e.Text, e.Code)
	}
	return fmt.Sprintf("%s: error %d", e.Function, e.Code)
}

// Check returns an Error unless a code is 0. texts say what codes mean that people meet.
func Check(function string, code int32, texts map[int32]string) error {
	if code == 0 {
		return nil
	}
	return &Error{Function: function, Code: code, Text: texts[code]}
}
