package main

import (
	"os"
	"testing"
)

// TestDiagramsAreCurrent compares the files with the drawings.
func TestDiagramsAreCurrent(t *testing.T) {
	for name, text := range map[string]string{"workunit.svg": workunit(), "ports.svg": ports()} {
		if is, err := os.ReadFile(name); err != nil || string(is) != text {
			t.Errorf("%s differs, %v: go run ./docs/diagrams", name, err)
		}
	}
}
