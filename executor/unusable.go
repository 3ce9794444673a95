package executor

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/starling-grid/starling/internal/foreigndir"
)

// Reasons why the system will never start a program. They are reported together with ErrUnusable.
var (
	ErrForeign   = errors.New("it is not a program for this kind of computer")
	ErrForbidden = errors.New("the system does not let it be run")
)

// A MissingError means that a program's interpreter or loader is not installed. It is reported
// together with ErrUnusable.
type MissingError struct{ Interpreter string } // absolute path, or "" if unknown, such as for a loader

func (e *MissingError) Error() string {
	if e.Interpreter == "" {
		return "the interpreter or loader that it names is not installed"
	}
	return "the interpreter that it names is not installed: " + e.Interpreter
}

// interpreter returns the interpreter in the first line of a project's script, if it is not
// installed. Otherwise it returns "".
func interpreter(project *os.Root, program string) string {
	const longest = 256 // maximum length of such a line, as on Linux
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
