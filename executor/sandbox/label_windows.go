package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/windows"
)

// Labels of files and folders that processes of low integrity may change, and of files that they
// may not. New files in a folder inherit the folder's label.
const (
	lowFile   = "S:(ML;;NW;;;LW)"
	lowFolder = "S:(ML;OICI;NW;;;LW)"
	ownFile   = "S:(ML;;NW;;;ME)"
)

// open lets processes of low integrity write to a file, or to a folder with its present and future
// content. A missing file, or a file system without access rights, is not an error. A folder is
// labeled after its content, so its label shows that there is nothing left to do.
func open(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && labeled(path) {
		return nil
	} else if err != nil {
		return err
	}
	err = filepath.WalkDir(path, func(name string, d fs.DirEntry, err error) error {
		if err != nil || name == path || !d.IsDir() && !d.Type().IsRegular() { // the target of a link is not the task's
			return err
		}
		return lower(name, d.IsDir())
	})
	if err == nil {
		err = lower(path, info.IsDir())
	}
	return unless(err)
}

// unless returns err, unless it means that files do not have access rights on that file system.
func unless(err error) error {
	if errors.Is(err, windows.ERROR_NOT_SUPPORTED) || errors.Is(err, windows.ERROR_INVALID_FUNCTION) {
		return nil
	}
	return err
}

// Reclaim removes the programs' permission to write to a file.
func Reclaim(file string) error {
	f, err := handle(file, windows.WRITE_OWNER)
	if err != nil {
		return err
	}
	defer func() { _ = windows.CloseHandle(f) }()
	return unless(label(f, file, ownFile))
}

// lower labels one file or folder. A file that also has another name is not changed, since it may
// not belong to a task.
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

// labeled reports whether open has already labeled a folder.
func labeled(path string) bool {
	f, err := handle(path, windows.READ_CONTROL)
	if err != nil {
		return false
	}
	defer func() { _ = windows.CloseHandle(f) }()
	sd, err := windows.GetSecurityInfo(f, windows.SE_FILE_OBJECT, windows.LABEL_SECURITY_INFORMATION)
	return err == nil && strings.Contains(sd.String(), strings.TrimPrefix(lowFolder, "S:"))
}

// handle opens a file or folder to access its rights. It opens a link itself, not its target.
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
