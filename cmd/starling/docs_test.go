package main

import (
	"testing"

	"github.com/starling-grid/starling/internal/testdocs"
	"github.com/starling-grid/starling/internal/testerr"
)

// The documents name commands and flags that exist.
func TestTheDocumentsNameCommands(t *testing.T) {
	wrong, err := testdocs.Commands(commands(new(options)), "../..")
	must(t, err)
	for _, w := range wrong {
		t.Error(w)
	}
}

var must = testerr.Must
