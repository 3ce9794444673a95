package executor

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/starling-grid/starling/internal/foreigndir"
	"github.com/starling-grid/starling/protocol/appipc"
)

// reserved are names in a slot that the interface uses. A project's file with such a name could be
// mistaken for a message to the application or to the agent.
var reserved = map[string]bool{
	appipc.InitDataFile:      true,
	appipc.MmapFile:          true,
	appipc.LockFile:          true,
	appipc.FinishFile:        true,
	appipc.TemporaryExitFile: true,
	appipc.TaskStateFile:     true,
	appipc.SetupFile:         true,
	partialCopy:              true,
	foreigndir.Temp:          true,
	outputsDir:               true,
}

// checkName returns an error unless the name denotes one file in one folder. os.Root alone is not
// enough: a soft link is a text that the application follows outside of os.Root.
func checkName(name string) error {
	bad := name == "" || name == "." || name == ".." || len(name) > 255 ||
		strings.ContainsAny(name, `/\`) || strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f }) ||
		!filepath.IsLocal(name)
	if bad || runtime.GOOS == "windows" && forbiddenOnWindows(name) {
		return fmt.Errorf("file name %.60q is not allowed", name)
	}
	return nil
}

// forbiddenOnWindows reports whether programs on Windows take the name for a device, for another
// file or for part of a file. Some programs open such a file as named, and others open something
// else.
//
// Source: Microsoft, "Naming Files, Paths, and Namespaces".
func forbiddenOnWindows(name string) bool {
	if strings.ContainsAny(name, `<>:"|?*`) || strings.HasSuffix(name, ".") || strings.HasSuffix(name, " ") {
		return true
	}
	base, _, _ := strings.Cut(strings.ToUpper(name), ".")
	base = strings.TrimRight(base, " ")
	switch base {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$":
		return true
	}
	port, ok := strings.CutPrefix(base, "COM")
	if !ok {
		port, ok = strings.CutPrefix(base, "LPT")
	}
	return ok && len([]rune(port)) == 1 && strings.ContainsAny(port, "123456789¹²³")
}

// identity returns the same string for all names of the same file.
func identity(name string) string {
	if runtime.GOOS == "windows" {
		return strings.ToLower(name)
	}
	return name
}

// check returns an error if the task names files outside its two folders.
func (t Task) check() error {
	if t.Result == "" || t.Slot < 0 {
		return fmt.Errorf("result %.60q in slot %d: no such task", t.Result, t.Slot)
	}
	if err := checkName(t.Program); err != nil {
		return fmt.Errorf("main program: %w", err)
	}
	seen := make(map[string]bool, len(t.Files))
	for _, f := range t.Files {
		if err := checkName(f.Physical); err != nil {
			return err
		}
		logical := f.logical()
		if err := checkName(logical); err != nil {
			return err
		}
		if reserved[strings.ToLower(logical)] { // some file systems ignore case
			return fmt.Errorf("file %s: the name %s is reserved", f.Physical, logical)
		}
		if seen[identity(logical)] {
			return fmt.Errorf("file %s: there are two files named %s", f.Physical, logical)
		}
		seen[identity(logical)] = true
	}
	return nil
}
