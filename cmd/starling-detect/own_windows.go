package main

import (
	"os"

	"golang.org/x/sys/windows"
)

// own returns the standard output for ourselves alone: what drivers print from now on goes
// to the standard error.
func own() (*os.File, error) {
	out := os.Stdout
	return out, windows.SetStdHandle(windows.STD_OUTPUT_HANDLE, windows.Handle(os.Stderr.Fd()))
}
