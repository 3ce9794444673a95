// Package sharedlib loads shared libraries, such as drivers, without cgo.
//
// A program that imports it needs the system's C library and is no longer static. Its runtime also
// no longer changes all threads of the process at once, on which the sandbox of applications
// relies. So neither the agent nor the server may import it. Separate programs use the drivers for
// them.
package sharedlib

import (
	"cmp"
	"fmt"

	"github.com/ebitengine/purego"
)

// A Library is a shared library that was loaded. It stays until the process ends.
type Library struct {
	Name   string // the name under which it was found
	handle uintptr
}

// Open loads the first of the named libraries that exists. The error is the reason why the first
// name could not be loaded.
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

// Func makes *fn, a function, the library's function of that name. The types must match the
// function's types in C, which cannot be checked.
func (l Library) Func(fn any, name string) error {
	if !l.Has(name) {
		return fmt.Errorf("%s has no function %s", l.Name, name)
	}
	purego.RegisterLibFunc(fn, l.handle, name)
	return nil
}

// An Error is the failure of a library's function.
type Error struct {
	Function string
	Code     int32
	Text     string // "" if the code means nothing to people
}

// Error implements error.
func (e *Error) Error() string {
	if e.Text != "" {
		return fmt.Sprintf("%s: %s (%d)", e.Function, e.Text, e.Code)
	}
	return fmt.Sprintf("%s: error %d", e.Function, e.Code)
}

// Check returns an Error unless code is 0. texts are the meanings of codes that people meet.
func Check(function string, code int32, texts map[int32]string) error {
	if code == 0 {
		return nil
	}
	return &Error{Function: function, Code: code, Text: texts[code]}
}
