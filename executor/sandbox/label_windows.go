package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/windows"
)

// Labels of what processes of low integrity may write, and of what they may not. What comes
// into a folder takes on that of the folder.
const (
	lowFile   = "S:(ML;;NW;;;LW)"
	lowFolder = "S:(ML;OICI;NW;;;LW)"
	ownFile   = "S:(ML;;NW;;;ME)"
)

// open lets processes of low integrity write to a file or a folder with all in it, now and
// later. What is not there, and a file system that knows no rights, are no errors. A folder is
// labeled after all in it, so that its label tells that there is nothing to be done.
func open(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && labeled(path) {
		return nil
	} else if err != nil {
		return err
	}
	err = filepath.WalkDir(path, func(name string, d fs.DirEntry, err error) error {
		if err != nil || name == path || !d.IsDir() && !d.Type().IsRegular() { // what a link leads to is another's
			return err
		}
		return lower(name, d.IsDir())
	})
	if err == nil {
		err = lower(path, info.IsDir())
	}
	return unless(err)
}

// unless is err, unless it says that files have no rights there.
func unless(err error) error {
	if errors.Is(err, windows.ERROR_NOT_SUPPORTED) || errors.Is(err, windows.ERROR_INVALID_FUNCTION) {
		return nil
	}
	return err
}

// Reclaim takes a file that a program could write to away from all of them.
func Reclaim(file string) error {
	f, err := handle(file, windows.WRITE_OWNER)
	if err != nil {
		return err
	}
	defer func() { _ = windows.CloseHandle(f) }()
	return unless(label(f, file, ownFile))
}

// lower labels one file or folder. A file that has a name elsewhere as well is left alone: it
// need not be a task's.
func lower(name string, folder bool) error {
	f, err := handle(name, windows.WRITE_OWNER|windows.FILE_READ_ATTRIBUTES)
	if err != nil {
		return err
	}
	defer func() { _ = windows.CloseHandle(f) }()
	if folder {
		return label(f, name, lowFolder)
	}
	var info windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(f, &info); err != nil {
		return &os.PathError{Op: "look at", Path: name, Err: err}
	}
	if info.NumberOfLinks > 1 {
		return nil
	}
	return label(f, name, lowFile)
}

func label(f windows.Handle, name, text string) error {
	sd, err := windows.SecurityDescriptorFromString(text)
	if err != nil {
		return err
	}
	list, _, err := sd.SACL()
	if err == nil {
		err = windows.SetSecurityInfo(f, windows.SE_FILE_OBJECT, windows.LABEL_SECURITY_INFORMATION, nil, nil, nil, list)
	}
	if err != nil {
		return &os.PathError{Op: "label", Path: name, Err: err}
	}
	return nil
}

// labeled reports whether a folder is open already.
func labeled(path string) bool {
	f, err := handle(path, windows.READ_CONTROL)
	if err != nil {
		return false
	}
	defer func() { _ = windows.CloseHandle(f) }()
	sd, err := windows.GetSecurityInfo(f, windows.SE_FILE_OBJECT, windows.LABEL_SECURITY_INFORMATION)
	return err == nil && strings.Contains(sd.String(), strings.TrimPrefix(lowFolder, "S:"))
}

// handle opens a file or folder itself, wherever it leads to, for its rights.
func handle(name string, access uint32) (windows.Handle, error) {
	path, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return 0, err
	}
	const shared = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE
	f, err := windows.CreateFile(path, access, shared, nil, windows.OPEN_EXISTING, windows.FILE_FLAG_BACKUP_SEMANTICS|windows.FILE_FLAG_OPEN_REPARSE_POINT, 0)
	if err != nil {
		return 0, &os.PathError{Op: "open", Path: name, Err: err}
	}
	return f, nil
}
