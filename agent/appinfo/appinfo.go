// Package appinfo reads app_info.xml, with which a volunteer replaces a project's programs with
// their own. It is in the project's folder and has the format that BOINC's clients read. The
// package changes nothing.
package appinfo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/starling-grid/starling/boincapi/wasmhost"
	"github.com/starling-grid/starling/internal/foreigndir"
	"github.com/starling-grid/starling/internal/sysfault"
	"github.com/starling-grid/starling/protocol"
)

// maxBytes is the maximum size of the file. Those of real projects have some tens of kilobytes.
const maxBytes = 1 << 20

// Info describes a volunteer's own programs for a project.
type Info struct {
	Apps     []protocol.App
	Files    []protocol.FileInfo // all exist, and NBytes is their size
	Versions []protocol.AppVersion
}

// Read returns the content of the file in a project's folder, or nil if it does not exist. platform
// is used for versions that name none. The error has all faults, each with the path, the line and
// the remedy. The correct parts are returned all the same, or nil if they include no version.
func Read(folder, platform string) (*Info, error) {
	dir, err := foreigndir.Enter(context.Background(), folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return ReadIn(dir.Root(), folder, platform)
}

// ReadIn is Read for a folder that is open.
func ReadIn(dir *os.Root, folder, platform string) (*Info, error) {
	path := filepath.Join(folder, protocol.AppInfoFile)
	b, err := content(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	all, err := protocol.ParseAppInfo(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var errs []error
	usable, faults := all.Usable(platform, func(f *protocol.FileInfo) string {
		if why := here(dir, f); why != "" {
			return fmt.Sprintf("%s; put it into %s, or remove it from the description", why, folder)
		}
		return ""
	})
	for _, e := range faults {
		errs = append(errs, fmt.Errorf("%s: %w", path, e))
	}
	info := new(Info)
	for _, v := range usable.Versions {
		if name := notExecutable(dir, v.Value); name != "" {
			errs = append(errs, fmt.Errorf("%s: %w", path, &protocol.LineError{Line: v.Line, Text: fmt.Sprintf("program %s may not be run; allow it: chmod +x %s", name, filepath.Join(folder, name))}))
			continue
		}
		info.Versions = append(info.Versions, v.Value)
	}
	for _, a := range usable.Apps {
		info.Apps = append(info.Apps, a.Value)
	}
	for _, f := range usable.Files {
		info.Files = append(info.Files, f.Value)
	}
	if len(info.Versions) == 0 {
		info = nil
	}
	return info, errors.Join(errs...)
}

// Exists reports whether there is such a file in a folder, whatever its content.
func Exists(folder string) bool {
	_, err := os.Lstat(filepath.Join(folder, protocol.AppInfoFile))
	return err == nil
}

func content(dir *os.Root) ([]byte, error) {
	b, err := foreigndir.Read(dir, protocol.AppInfoFile, maxBytes+1)
	if err == nil && len(b) > maxBytes {
		err = fmt.Errorf("it has more than %d bytes", maxBytes)
	}
	return b, err
}

// here records the size of a file, or returns why it cannot be used.
func here(dir *os.Root, f *protocol.FileInfo) string {
	st, err := dir.Stat(f.Name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "is not there"
	case err != nil:
		return "cannot be read (" + sysfault.Plain(err) + ")"
	case !st.Mode().IsRegular():
		return "is not a file"
	}
	f.NBytes = st.Size()
	return ""
}

// notExecutable returns the program of a version that the system would refuse to run.
func notExecutable(dir *os.Root, v protocol.AppVersion) string {
	if runtime.GOOS == "windows" || v.Platform == wasmhost.Platform || strings.Contains(v.PlanClass, "vbox") {
		return ""
	}
	for _, ref := range v.FileRefs {
		if st, err := dir.Stat(ref.FileName); ref.MainProgram && err == nil && st.Mode().Perm()&0o111 == 0 {
			return ref.FileName
		}
	}
	return ""
}
