package executor

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"

	"github.com/starling-grid/starling/internal/foreigndir"
	"github.com/starling-grid/starling/internal/script"
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

// notFound returns the reason why the system does not find a program whose file exists.
func notFound(project *os.Root, program string) error {
	f, err := foreigndir.Open(project, program)
	if err != nil {
		return &MissingError{}
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, script.Longest))
	if err != nil {
		return &MissingError{}
	}
	if runtime.GOOS != "windows" && script.ForWindows(head) {
		return fmt.Errorf("%w: its lines end as on Windows", ErrForeign)
	}
	name := script.Interpreter(head)
	if _, err := os.Stat(name); err == nil || !filepath.IsAbs(name) {
		return &MissingError{}
	}
	return &MissingError{name}
}
