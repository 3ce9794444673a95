package executor

import (
	"crypto/md5"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
)

// maxStderr is how much of stderr.txt BOINC's clients send.
const maxStderr = 63 << 10

// outputs moves copied outputs into the project's folder and looks at all of
// them. A file that is too big is deleted.
func (e *Executor) outputs(t Task, s *slot) []Output {
	var all []Output
	for _, f := range t.Files {
		if !f.Output {
			continue
		}
		o := Output{Physical: f.Physical, Logical: f.logical()}
		if f.Copy {
			o.Err = e.moveOut(t, s, f)
		}
		if o.Err == nil {
			o.Err = s.measure(f, &o)
		}
		all = append(all, o)
	}
	return all
}

// moveOut moves an output from the slot, if it is there and is a file; a link
// would make us upload what it points to.
func (e *Executor) moveOut(t Task, s *slot, f File) error {
	info, err := s.dir.Lstat(f.logical())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("output %s is not a file", f.logical())
	}
	project := path.Join("projects", filepath.Base(t.ProjectDir))
	return e.root.Rename(path.Join(slotName(t.Slot), f.logical()), path.Join(project, f.Physical))
}

// measure fills in what there is to know of the output in the project's folder.
//
// Source: BOINC client/cs_apps.cpp, CLIENT_STATE::app_finished.
func (s *slot) measure(f File, o *Output) error {
	info, err := s.project.Lstat(f.Physical)
	if errors.Is(err, fs.ErrNotExist) {
		o.Missing = true
		if f.Optional {
			return nil
		}
		return &OutputError{File: f.Physical, Code: errNotFound, Text: "not found"}
	}
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("output %s is not a file", f.Physical)
	}
	o.NBytes = info.Size()
	if o.NBytes > f.MaxBytes {
		if err := s.project.Remove(f.Physical); err != nil {
			return err
		}
		return &OutputError{File: f.Physical, Code: errFileTooBig, Text: "file size too big"}
	}
	file, err := s.project.OpenFile(f.Physical, openToSync, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	sum := md5.New()
	if o.NBytes, err = io.Copy(sum, file); err != nil {
		return err
	}
	o.MD5 = hex.EncodeToString(sum.Sum(nil))
	return file.Sync() // before anybody notes down that the result is done
}

// tail returns the end of a file in the slot, at most n bytes.
func (s *slot) tail(name string, n int64) string {
	f, err := s.dir.Open(name)
	if err != nil {
		return ""
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() > n {
		if _, err := f.Seek(-n, io.SeekEnd); err != nil {
			return ""
		}
	}
	b, _ := io.ReadAll(io.LimitReader(f, n))
	return string(b)
}
