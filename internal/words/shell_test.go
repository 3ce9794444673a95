package words_test

import (
	"testing"

	"github.com/starling-grid/starling/internal/words"
)

func TestShell(t *testing.T) {
	for word, want := range map[string]string{
		"Einstein@Home": "Einstein@Home", "World Community Grid": "'World Community Grid'", "it's": `'it'\''s'`, "": "''", "a/Prüfung": "a/Prüfung",
	} {
		if got := words.Shell(word); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
