package executor

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/starling-grid/starling/internal/foreigndir"
)

// Why the system does not start a program, now or later; beside ErrUnusable.
var (
	ErrForeign   = errors.New("it is not a program for this kind of computer")
	ErrForbidden = errors.New("the system does not let it be run")
)

// A MissingError says that what a program needs to be started is not on this computer;
// beside ErrUnusable.
type MissingError struct{ Interpreter string } // absolute path; "": not known, such as a loader

func (e *MissingError) Error() string {
	if e.Interpreter == "" {
		return "the interpreter or loader that it names is not installed"
	}
	return "the interpreter that it names is not installed: " + e.Interpreter
}

// interpreter is what a script of the project names in its first line to run it, if that
// is not on this computer; "" otherwise.
func interpreter(project *os.Root, program string) string {
	const longest = 256 // of such a line, as on Linux
	f, err := foreigndir.Open(project, program)
	if err != nil {
		return ""
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, longest))
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(head), "\n")
	rest, script := strings.CutPrefix(line, "#!")
	words := strings.Fields(rest)
	if !script || len(words) == 0 || !filepath.IsAbs(words[0]) {
		return ""
	}
	if _, err := os.Stat(words[0]); err == nil {
		return ""
	}
	return words[0]
}
