package main

import (
	"os"

	"golang.org/x/sys/windows"
)

// own returns the standard output for this program alone, and redirects later output of drivers to
// the standard error.
func own() (*os.File, error) {
	out := os.Stdout
	return out, windows.SetStdHandle(windows.STD_OUTPUT_HANDLE, windows.Handle(os.Stderr.Fd()))
}
