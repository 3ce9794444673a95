package executor

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/starling-grid/starling/internal/foreigndir"
	"github.com/starling-grid/starling/protocol/appipc"
	"github.com/starling-grid/starling/protocol/bxml"
)

// A slot is the working directory of one run, with the project's folder that it links to.
type slot struct {
	dir     *os.Root
	project *os.Root
	link    string // the project's folder as seen from the slot, with slashes
	user    int    // the slot's owner, where 0 is the agent's user
	state   setup
}

// setup is the content of SetupFile. The file is written when the slot is complete, so if it
// contains a result's name, that result can continue in the slot.
type setup struct {
	Result         string
	PrematureExits int // since the last checkpoint
}

// slotName returns the slot's path below the data directory.
func slotName(n int) string { return path.Join("slots", strconv.Itoa(n)) }

// openSlot returns the slot with the task's files in it: the existing slot if it belongs to this
// result, or else a new one.
func (e *Executor) openSlot(t Task) (_ *slot, resumed bool, err error) {
	rel, err := filepath.Rel(e.dir, t.ProjectDir)
	if err != nil || path.Dir(filepath.ToSlash(rel)) != "projects" {
		return nil, false, fmt.Errorf("project folder %s is not in %s", t.ProjectDir, filepath.Join(e.dir, "projects"))
	}
	s := &slot{link: "../../" + filepath.ToSlash(rel)}
	if s.user, err = e.taskUser(t.Slot); err != nil {
		return nil, false, err
	}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	if s.project, err = e.root.OpenRoot(rel); err != nil {
		return nil, false, fmt.Errorf("open project folder: %w", err)
	}
	if err = s.open("."); err != nil {
		return nil, false, fmt.Errorf("open project folder to the slot's user: %w", err)
	}
	name := slotName(t.Slot)
	_ = foreigndir.Repair(e.root, name) // the slot may not exist yet
	if s.dir, err = e.root.OpenRoot(name); err == nil {
		s.state = readSetup(s.dir)
		resumed = s.state.Result == t.Result
	}
	if resumed && s.user != 0 {
		if err = foreigndir.Give(e.root, name, s.user); err != nil { // an agent that ran as another user may have left it
			return nil, false, fmt.Errorf("give slot %d to its user: %w", t.Slot, err)
		}
	}
	if !resumed {
		if s.dir != nil {
			_ = s.dir.Close()
		}
		if err = foreigndir.RemoveAll(e.root, name); err != nil {
			return nil, false, fmt.Errorf("empty slot %d: %w", t.Slot, err)
		}
		if err = e.root.MkdirAll(path.Dir(name), 0o711); err != nil {
			return nil, false, fmt.Errorf("create the slots folder: %w", err)
		}
		if err = e.root.Mkdir(name, 0o700); err != nil { // private, because the data that applications receive contains keys
			return nil, false, fmt.Errorf("create slot %d: %w", t.Slot, err)
		}
		if err = s.own(e.root, name); err != nil {
			return nil, false, fmt.Errorf("create slot %d: %w", t.Slot, err)
		}
		if s.dir, err = e.root.OpenRoot(name); err != nil {
			return nil, false, fmt.Errorf("open slot %d: %w", t.Slot, err)
		}
		s.state = setup{Result: t.Result}
	}
	if err = s.makeOutputs(); err != nil {
		return nil, false, fmt.Errorf("set up slot %d: %w", t.Slot, err)
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

// own gives a folder to the slot's user.
func (s *slot) own(root *os.Root, name string) error {
	if s.user == 0 {
		return nil
	}
	return root.Lchown(name, s.user, s.user)
}

// give gives a file to the slot's user.
func (s *slot) give(f *os.File) error {
	if s.user == 0 {
		return nil
	}
	return f.Chown(s.user, s.user)
}

// open lets the slot's user read a file in the project's folder, and run it if it is a program.
func (s *slot) open(name string) error {
	if s.user == 0 {
		return nil
	}
	info, err := s.project.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // it may be optional, and code that needs it reports the error
	}
	if err != nil {
		return err
	}
	perm := info.Mode().Perm()
	if need := perm | 0o044 | perm&0o100>>3 | perm&0o100>>6; need != perm { // a folder's or a program's x bit, too
		return s.project.Chmod(name, need)
	}
	return nil
}

// place puts a file into the slot unless it is there. An empty file instead of a link was left by a
// crash of the host.
func (s *slot) place(f File) error {
	if f.Output && !f.Copy {
		return s.placeOutput(f)
	}
	name := f.logical()
	if err := s.open(f.Physical); err != nil {
		return err
	}
	if info, err := s.dir.Lstat(name); err == nil && (info.Size() > 0 || f.Copy) {
		return nil
	}
	if f.Copy {
		if f.Output {
			return nil // the application creates it
		}
		return s.copyIn(f)
	}
	if !f.Optional {
		if _, err := s.project.Stat(f.Physical); err != nil {
			return err
		}
	}
	return s.replace(name, appipc.SoftLink(s.link+"/"+f.Physical))
}

// partialCopy is the name of an input while it is being copied.
const partialCopy = "starling_copy"

// copyIn copies to another name first, so that a copy that a crash cut short is not taken for
// complete.
func (s *slot) copyIn(f File) error {
	src, err := foreigndir.Open(s.project, f.Physical)
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
	dst, err := foreigndir.Create(s.dir, partialCopy, info.Mode().Perm()|0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(dst, src)
	if err == nil {
		err = s.give(dst)
	}
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

// replace writes a file so that readers find either the old content or the new one.
func (s *slot) replace(name string, content []byte) error {
	return foreigndir.Replace(s.dir, name, content, 0o664, s.give)
}

// readSetup returns the zero setup if the setup file is missing or incomplete.
func readSetup(dir *os.Root) setup {
	var st setup
	b, err := foreigndir.Read(dir, appipc.SetupFile, maxFormat)
	if err != nil {
		return st
	}
	var exits int64
	err = bxml.NewScanner(b).Decode("setup", func(x bxml.Codec) {
		x.Text("result_name", &st.Result)
		x.Int("premature_exits", &exits)
	})
	if err != nil {
		return setup{}
	}
	st.PrematureExits = int(min(max(exits, 0), maxPrematureExits))
	return st
}

// maxFormat is the number of bytes of a file of the interface that are read. Valid files are
// shorter.
const maxFormat = 64 << 10

// read returns the content of a file of the interface.
func (s *slot) read(name string) ([]byte, error) { return foreigndir.Read(s.dir, name, maxFormat) }

// has reports whether the slot contains a file with that prefix.
func (s *slot) has(prefix string) bool {
	found := false
	_ = foreigndir.Names(s.dir, ".", func(name string) bool {
		found = strings.HasPrefix(name, prefix)
		return !found
	}) // a slot that cannot be read counts as empty
	return found
}

// size returns the size of a file in the slot, or 0 if it does not exist.
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
