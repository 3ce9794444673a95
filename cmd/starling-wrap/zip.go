package main

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/starling-grid/starling/internal/foreigndir"
	"github.com/starling-grid/starling/protocol/appipc"
)

// maxList is the maximum size of initialFile, in bytes.
const maxList = 64 << 20

// unpack unpacks an archive into the slot and removes its link or copy there. If that is gone, the
// archive was unpacked before. The disk limit of the task limits the size of the content.
func unpack(logical string, resolve func(string) (string, error)) (err error) {
	if _, err := os.Lstat(logical); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	path, err := resolve(logical)
	if err != nil {
		return err
	}
	r, err := zip.OpenReader(path)
	if err != nil {
		return fmt.Errorf("archive %s: %w", logical, err)
	}
	for _, f := range r.File {
		if err = extract(f); err != nil {
			err = fmt.Errorf("archive %s: %s: %w", logical, f.Name, err)
			break
		}
	}
	if err = errors.Join(err, r.Close()); err != nil {
		return err
	}
	return os.Remove(logical)
}

// reserved are names in the slot that an archive may not use. An archive may be an input file, which
// is not signed: it must not change which programs are run, or that they have ended.
var reserved = []string{
	appipc.InitDataFile, appipc.MmapFile, appipc.LockFile, appipc.FinishFile, appipc.TemporaryExitFile,
	appipc.TaskStateFile, appipc.SetupFile, appipc.TrickleUpFile, jobFile, stateFile, initialFile,
}

// extract writes one file of an archive, below the slot.
func extract(f *zip.File) (err error) {
	name := filepath.FromSlash(f.Name)
	if !filepath.IsLocal(name) {
		return errors.New("its path leads out of the slot")
	}
	if slices.ContainsFunc(reserved, func(r string) bool { return strings.EqualFold(filepath.Clean(name), r) }) {
		return errors.New("a file of the client or the wrapper has this name: rename it")
	}
	if f.Mode().IsDir() {
		return os.MkdirAll(name, 0o750)
	}
	if !f.Mode().IsRegular() {
		return fmt.Errorf("it is no file but %v", f.Mode().Type())
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o750); err != nil {
		return err
	}
	from, err := f.Open()
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644|f.Mode()&0o111)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	_, err = io.Copy(to, from) //nolint:gosec // the client bounds the disk space of a task
	return err
}

// make writes the archive of the files that match and were not there before the first step.
func (a archive) make(resolve func(string) (string, error)) (err error) {
	if a.name == "" {
		return nil
	}
	list, err := foreigndir.ReadFile(initialFile, maxList)
	if err != nil {
		return err
	}
	before := strings.Split(string(list), "\n")
	path, err := resolve(a.name)
	if err != nil {
		return err
	}
	entries, err := os.ReadDir(".")
	if err != nil {
		return err
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file: a program has replaced it", a.name)
	}
	out, err := os.Create(path)
	if err != nil {
		return err
	}
	w := zip.NewWriter(out)
	for _, e := range entries {
		ours := slices.Contains([]string{stateFile, initialFile, a.name, filepath.Base(path)}, e.Name())
		if !e.Type().IsRegular() || ours || slices.Contains(before, e.Name()) || !slices.ContainsFunc(a.patterns, func(p *regexp.Regexp) bool { return p.MatchString(e.Name()) }) {
			continue
		}
		if err = add(w, e.Name()); err != nil {
			break
		}
	}
	return errors.Join(err, w.Close(), out.Close())
}

func add(w *zip.Writer, name string) error {
	from, err := foreigndir.OpenFile(name)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := w.Create(name)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	return err
}
