//go:build unix

package sharedlib

import "github.com/ebitengine/purego"

func open(name string) (uintptr, error) {
	return purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_LOCAL)
}

// Has reports whether the library has a function.
func (l Library) Has(name string) bool {
	at, err := purego.Dlsym(l.handle, name)
	return err == nil && at != 0
}
