package executor

import (
	"context"
	"crypto/md5"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/starling-grid/starling/executor/sandbox"
	"github.com/starling-grid/starling/internal/foreigndir"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/protocol/appipc"
)

// outputsDir is the folder in a slot that output files are written to. With BOINC's client they are
// written to the project's folder. There a task could change the input files of other tasks, and
// fill the disk unnoticed.
const outputsDir = "starling_outputs"

// makeOutputs makes the folder, unless it exists.
func (s *slot) makeOutputs() error {
	if info, err := s.dir.Lstat(outputsDir); err == nil && info.IsDir() {
		return foreigndir.Repair(s.dir, outputsDir)
	}
	if err := foreigndir.RemoveAll(s.dir, outputsDir); err != nil {
		return err
	}
	if err := s.dir.Mkdir(outputsDir, 0o700); err != nil {
		return err
	}
	return s.own(s.dir, outputsDir)
}

// placeOutput makes the application write an output to the slot. If the slot was made by BOINC's
// client, the output may already be in the project's folder: then it is moved into the slot.
func (s *slot) placeOutput(f File) error {
	head, err := foreigndir.Read(s.dir, f.logical(), 512)
	if err == nil {
		target, ok := appipc.ParseSoftLink(head)
		if !ok && len(head) > 0 || target == outputsDir+"/"+f.Physical {
			return nil
		}
		if err := s.fetch(f); err != nil {
			return err
		}
	}
	return s.replace(f.logical(), appipc.SoftLink(outputsDir+"/"+f.Physical))
}

// fetch moves an output from the project's folder into the slot.
func (s *slot) fetch(f File) error {
	src, err := foreigndir.Open(s.project, f.Physical)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := foreigndir.Create(s.dir, partialCopy, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(dst, src)
	if err == nil {
		err = s.give(dst)
	}
	if err := errors.Join(err, dst.Close()); err != nil {
		return err
	}
	if err := s.dir.Rename(partialCopy, path.Join(outputsDir, f.Physical)); err != nil {
		return err
	}
	return s.project.Remove(f.Physical)
}

// maxStderr is the number of bytes of stderr.txt that BOINC's clients send.
const maxStderr = 63 << 10

// outputs moves outputs into the project's folder and examines them. A file that is too big is
// deleted.
func (e *Executor) outputs(t Task, s *slot) []Output {
	var all []Output
	for _, f := range t.Files {
		if !f.Output {
			continue
		}
		if f.Spare {
			if err := e.moveOut(t, s, f); err != nil {
				e.log.Warn("cannot keep a file for later tasks", "result", t.Result, "file", f.Physical, "err", err)
			}
			continue
		}
		o := Output{Physical: f.Physical, Logical: f.logical()}
		if o.Err = e.moveOut(t, s, f); o.Err == nil {
			o.Err = s.measure(e.ctx, f, &o)
		}
		all = append(all, o)
	}
	return all
}

// inSlot returns the path of an output in the slot.
func (f File) inSlot() string {
	if f.Copy {
		return f.logical()
	}
	return path.Join(outputsDir, f.Physical)
}

// moveOut moves an output out of the slot, if it exists. It must be a regular file: the agent must
// not upload the target of a link.
func (e *Executor) moveOut(t Task, s *slot, f File) error {
	info, err := s.dir.Lstat(f.inSlot())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("output %s is not a file", f.logical())
	}
	if f.Gzip && info.Size() <= f.MaxBytes { // a file that is too big is judged by its uncompressed size
		return e.takeCompressed(t, s, f)
	}
	return e.take(t, f.inSlot(), f.Physical)
}

// take moves a file from the task's slot to the project's folder, where the agent owns it.
func (e *Executor) take(t Task, from, to string) error {
	from = path.Join(slotName(t.Slot), from)
	to = path.Join("projects", filepath.Base(t.ProjectDir), to)
	if err := foreigndir.Rename(e.root, from, to); err != nil {
		return err
	}
	if os.Geteuid() == 0 {
		if err := e.root.Lchown(to, os.Geteuid(), os.Getegid()); err != nil {
			return err
		}
	}
	if e.sandboxed != nil {
		if err := sandbox.Reclaim(filepath.Join(e.dir, filepath.FromSlash(to))); err != nil {
			return err
		}
	}
	return e.root.Chmod(to, 0o644)
}

// measure fills in the size and checksum of the output in the project's folder.
//
// Source: BOINC client/cs_apps.cpp, CLIENT_STATE::app_finished.
func (s *slot) measure(ctx context.Context, f File, o *Output) error {
	file, err := foreigndir.OpenToSync(s.project, f.Physical)
	if errors.Is(err, fs.ErrNotExist) {
		o.Missing = true
		if f.Optional {
			return nil
		}
		return &OutputError{File: f.Physical, Code: protocol.ErrNumFileMissing, Text: "not found"}
	}
	if errors.Is(err, foreigndir.ErrIrregular) {
		return fmt.Errorf("output %s is not a file", f.Physical)
	}
	if err != nil {
		return err
	}
	defer file.Close()
	sum := md5.New()
	if o.NBytes, err = io.Copy(sum, io.LimitReader(reader{ctx, file}, max(f.MaxBytes, f.MaxBytes+1))); err != nil {
		return err
	}
	if o.NBytes > f.MaxBytes {
		if err := s.project.Remove(f.Physical); err != nil {
			return err
		}
		return &OutputError{File: f.Physical, Code: protocol.ErrNumFileTooBig, Text: "file size too big"}
	}
	o.MD5 = hex.EncodeToString(sum.Sum(nil))
	return file.Sync() // before anybody records that the result is done
}

// A reader reads until its context ends.
type reader struct {
	ctx context.Context
	io.Reader
}

func (r reader) Read(b []byte) (int, error) {
	if err := context.Cause(r.ctx); err != nil {
		return 0, err
	}
	return r.Reader.Read(b)
}

// tail returns the last n bytes of a file in the slot, or "" if it cannot be read.
func (s *slot) tail(name string, n int64) string {
	b, _ := foreigndir.Tail(s.dir, name, n)
	return string(b)
}
