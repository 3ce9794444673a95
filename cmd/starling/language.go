package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/starling-grid/starling/internal/words"
)

// spoken returns the language of the terminal. JSON is English.
var spoken = sync.OnceValue(func() words.Language { return words.OfTerminal(os.Getenv) })

// phrase returns a text in the language of the terminal, see words.T.
func phrase(english string, values ...any) string { return words.T(english, values...).In(spoken()) }

// fault returns an error with a text in the language of the terminal.
func fault(english string, values ...any) error { return errors.New(phrase(english, values...)) }

// phraseln prints a text as a line.
func phraseln(w io.Writer, english string, values ...any) {
	fmt.Fprintln(w, phrase(english, values...))
}

// local returns a text in the language of the terminal.
func local(t words.Text) string { return t.In(spoken()) }
