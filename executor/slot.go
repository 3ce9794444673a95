package executor

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/starling-grid/starling/protocol/appipc"
	"github.com/starling-grid/starling/protocol/bxml"
)

// A slot is the working directory of one run, with the project's folder that
// it links to.
type slot struct {
	dir     *os.Root
	project *os.Root
	link    string // the project's folder as seen from the slot, with slashes
	state   setup
}

// setup is the content of SetupFile. It is written when the slot is complete,
// so its name in there says that a restart may go on with what it finds.
type setup struct {
	Result         string
	PrematureExits int // since the last checkpoint
}

// slotName returns the slot's path below the data directory.
func slotName(n int) string { return path.Join("slots", strconv.Itoa(n)) }

// openSlot returns the slot with the task's files in it: the slot as it was
// left, if it was this result's; else a new one.
func (e *Executor) openSlot(t Task) (_ *slot, resumed bool, err error) {
	rel, err := filepath.Rel(e.dir, t.ProjectDir)
	if err != nil || path.Dir(filepath.ToSlash(rel)) != "projects" {
		return nil, false, fmt.Errorf("project folder %s is not in %s", t.ProjectDir, filepath.Join(e.dir, "projects"))
	}
	s := &slot{link: "../../" + filepath.ToSlash(rel)}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	if s.project, err = e.root.OpenRoot(rel); err != nil {
		return nil, false, fmt.Errorf("open project folder: %w", err)
	}
	name := slotName(t.Slot)
	if s.dir, err = e.root.OpenRoot(name); err == nil {
		s.state = readSetup(s.dir)
		resumed = s.state.Result == t.Result
	}
	if !resumed {
		if s.dir != nil {
			_ = s.dir.Close()
		}
		if err = e.root.RemoveAll(name); err != nil {
			return nil, false, fmt.Errorf("empty slot %d: %w", t.Slot, err)
		}
		if err = e.root.MkdirAll(name, 0o771); err != nil { // as BOINC's: a service's applications may be another user
			return nil, false, fmt.Errorf("make slot %d: %w", t.Slot, err)
		}
		if s.dir, err = e.root.OpenRoot(name); err != nil {
			return nil, false, fmt.Errorf("open slot %d: %w", t.Slot, err)
		}
		s.state = setup{Result: t.Result}
	}
	for _, f := range t.files() {
		if err = s.place(f); err != nil {
			return nil, false, fmt.Errorf("set up %s in slot %d: %w", f.logical(), t.Slot, err)
		}
	}
	if !resumed {
		if err = s.save(); err != nil {
			return nil, false, err
		}
	}
	return s, resumed, nil
}

func (s *slot) close() {
	for _, r := range []*os.Root{s.dir, s.project} {
		if r != nil {
			_ = r.Close()
		}
	}
}

// place puts a file into the slot unless it is there. An empty file in place
// of a link is one that a crash of the host has left.
func (s *slot) place(f File) error {
	name := f.logical()
	if info, err := s.dir.Lstat(name); err == nil && (info.Size() > 0 || f.Copy) {
		return nil
	}
	if f.Copy {
		if f.Output {
			return nil // the application makes it
		}
		return s.copyIn(f)
	}
	if !f.Output && !f.Optional {
		if _, err := s.project.Stat(f.Physical); err != nil {
			return err
		}
	}
	return s.dir.WriteFile(name, appipc.SoftLink(s.link+"/"+f.Physical), 0o664)
}

// partialCopy is the name of an input that is being copied.
const partialCopy = "starling_copy"

// copyIn copies under another name first: a copy that a crash cut short must
// not be taken for whole.
func (s *slot) copyIn(f File) error {
	src, err := s.project.Open(f.Physical)
	if errors.Is(err, fs.ErrNotExist) && f.Optional {
		return nil
	}
	if err != nil {
		return err
	}
	defer src.Close()
	info, err := src.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a file", f.Physical)
	}
	dst, err := s.dir.OpenFile(partialCopy, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, info.Mode().Perm()|0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(dst, src)
	if err == nil {
		err = dst.Sync()
	}
	if err := errors.Join(err, dst.Close()); err != nil {
		return err
	}
	return s.dir.Rename(partialCopy, f.logical())
}

// save writes the setup file.
func (s *slot) save() error {
	var w bxml.Writer
	w.Open("setup")
	w.Text("result_name", s.state.Result)
	w.Int("premature_exits", int64(s.state.PrematureExits))
	w.Close("setup")
	return s.replace(appipc.SetupFile, w.Bytes())
}

// replace writes a file such that a reader finds the old one or the new one.
func (s *slot) replace(name string, content []byte) error {
	temp := name + ".new"
	if err := s.dir.WriteFile(temp, content, 0o664); err != nil {
		return err
	}
	return s.dir.Rename(temp, name)
}

// readSetup returns the zero setup if there is none, or only half of it.
func readSetup(dir *os.Root) setup {
	var st setup
	b, err := dir.ReadFile(appipc.SetupFile)
	if err != nil {
		return st
	}
	s := bxml.NewScanner(b)
	if s.Find("setup") != nil {
		return st
	}
	for name := range s.Children() {
		switch name {
		case "result_name":
			st.Result = s.Text()
		case "premature_exits":
			var n int64
			s.Int(&n)
			st.PrematureExits = int(min(max(n, 0), maxPrematureExits))
		}
	}
	if s.Err() != nil {
		return setup{}
	}
	return st
}

// has reports whether a file of that prefix is in the slot.
func (s *slot) has(prefix string) bool {
	entries, _ := fs.ReadDir(s.dir.FS(), ".")
	return slices.ContainsFunc(entries, func(d fs.DirEntry) bool { return strings.HasPrefix(d.Name(), prefix) })
}

// size returns that of a file in the slot; 0 if it is not there.
func (s *slot) size(name string) int64 {
	info, err := s.dir.Lstat(name)
	if err != nil || !info.Mode().IsRegular() {
		return 0
	}
	return info.Size()
}

func exists(dir *os.Root, name string) bool {
	_, err := dir.Lstat(name)
	return err == nil
}
