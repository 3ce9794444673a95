package main

import (
	"testing"

	"github.com/starling-grid/starling/internal/testdocs"
)

// The documents name commands and flags that exist.
func TestTheDocumentsNameCommands(t *testing.T) {
	wrong, err := testdocs.Commands(root(), "../..")
	must(t, err)
	for _, w := range wrong {
		t.Error(w)
	}
}
