package boincimport

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/starling-grid/starling/internal/atomicfile"
	"github.com/starling-grid/starling/internal/foreigndir"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/protocol/appipc"
	"github.com/starling-grid/starling/protocol/bxml"
	"github.com/starling-grid/starling/state"
)

// slots copies the slots of started tasks to numbers that are free here. A task
// whose slot has gone starts over.
func (m *importer) slots(t *Taken) error {
	taken := make(map[int]bool)
	for _, r := range m.db.Results.All() {
		taken[r.Slot] = true
	}
	bound := make(map[string]int64)
	for _, u := range t.Units {
		bound[u.Name] = int64(u.RscDiskBound)
	}
	for i := range t.Results {
		r := &t.Results[i]
		if r.Slot == state.NoSlot {
			continue
		}
		n := 0
		for taken[n] {
			n++
		}
		to := filepath.Join(m.to, "slots", strconv.Itoa(n))
		switch err := m.copySlot(r.Slot, n, bound[r.WorkunitName]); {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, foreigndir.ErrIrregular), errors.Is(err, foreigndir.ErrTooLarge), errors.Is(err, foreigndir.ErrTooDeep):
			m.note("task %s starts over, because its slot cannot be used: %v", r.Name, err)
			r.Slot, r.Started, r.Checkpoint = state.NoSlot, time.Time{}, state.Checkpoint{}
			if err := os.RemoveAll(to); err != nil {
				return err
			}
			continue
		case err != nil:
			return err
		}
		taken[n], r.Slot = true, n
		if b, err := foreigndir.ReadFile(filepath.Join(to, appipc.TaskStateFile), maxNotes); err == nil {
			if st, err := appipc.ParseTaskState(b); err == nil && st.ResultName == r.Name && st.CPUTime > r.Checkpoint.CPUTime {
				r.Checkpoint = state.Checkpoint{CPUTime: st.CPUTime, Elapsed: st.Elapsed, Fraction: st.FractionDone}
			}
		}
		if err := markSlot(to, *r); err != nil {
			return err
		}
	}
	return nil
}

// markSlot writes the files from which the executor learns a slot's result and its progress.
func markSlot(dir string, r state.Result) error {
	c := appipc.TaskState{
		ProjectURL: r.Project, ResultName: r.Name,
		CPUTime: r.Checkpoint.CPUTime, Elapsed: r.Checkpoint.Elapsed, FractionDone: r.Checkpoint.Fraction,
	}
	if err := atomicfile.Write(filepath.Join(dir, appipc.TaskStateFile), c.Encode(), 0o664); err != nil {
		return err
	}
	var w bxml.Writer
	w.Open("setup")
	w.Text("result_name", protocol.EscapeURL(r.Project)+"/"+r.Name)
	w.Close("setup")
	return atomicfile.Write(filepath.Join(dir, appipc.SetupFile), w.Bytes(), 0o664)
}

// copySlot copies a slot without the files of the process that ran in it. It copies at most most
// bytes, the limit of its task, or with 0 as many as a file of unknown size may have.
func (m *importer) copySlot(from, to int, most int64) error {
	src, err := m.door.Into("slots/" + strconv.Itoa(from))
	if err != nil {
		return err
	}
	defer src.Close()
	below := filepath.Join("slots", strconv.Itoa(to))
	if err := os.RemoveAll(filepath.Join(m.to, below)); err != nil {
		return err
	}
	dst, err := m.makeRoot(below, 0o771) // as the executor's: applications may be another user
	if err != nil {
		return err
	}
	defer dst.Close()
	if most <= 0 {
		most = maxUnknown
	}
	c := slotCopy{left: most}
	return errors.Join(c.folder(src, dst, true), context.Cause(m.ctx))
}

// A slotCopy has the remaining limits while a slot is copied.
type slotCopy struct {
	left  int64 // bytes
	depth int
}

// folder copies everything in a folder. Links are created again and not followed.
func (c *slotCopy) folder(src *foreigndir.Door, dst *os.Root, top bool) (err error) {
	if c.depth++; c.depth > foreigndir.MaxDepth {
		return foreigndir.ErrTooDeep
	}
	defer func() { c.depth-- }()
	errNames := src.Names(func(name string) bool {
		if top && slices.Contains([]string{appipc.InitDataFile, appipc.MmapFile, appipc.LockFile, appipc.SetupFile}, name) || strings.HasSuffix(name, ".new") {
			return true
		}
		err = c.entry(src, dst, name)
		return err == nil
	})
	return errors.Join(err, errNames)
}

// entry copies a file, a folder or a link. Anything else is left behind.
func (c *slotCopy) entry(src *foreigndir.Door, dst *os.Root, name string) error {
	info, err := src.Root().Lstat(name)
	if err != nil {
		return err
	}
	if c.left -= foreigndir.EachFile; c.left < 0 {
		return fmt.Errorf("%s: %w", src.Path(), foreigndir.ErrTooLarge)
	}
	switch {
	case info.IsDir():
		if err := dst.Mkdir(name, info.Mode().Perm()|0o700); err != nil {
			return err
		}
		subSrc, err := src.Into(name)
		if err != nil {
			return err
		}
		defer subSrc.Close()
		subDst, err := dst.OpenRoot(name)
		if err != nil {
			return err
		}
		defer subDst.Close()
		return c.folder(subSrc, subDst, false)
	case info.Mode().IsRegular():
		if err := src.Copy(name, dst, name, info.Mode().Perm()|0o600, c.left); err != nil {
			return err
		}
		c.left -= info.Size()
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := src.Root().Readlink(name)
		if err != nil {
			return err
		}
		return dst.Symlink(target, name)
	}
	return nil
}
