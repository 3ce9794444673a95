package boincimport

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/starling-grid/starling/internal/atomicfile"
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
	for i := range t.Results {
		r := &t.Results[i]
		if r.Slot == state.NoSlot {
			continue
		}
		from := filepath.Join(m.from, "slots", strconv.Itoa(r.Slot))
		if st, err := os.Stat(from); err != nil || !st.IsDir() {
			m.note("task %s starts over, because its slot %d is missing", r.Name, r.Slot)
			r.Slot, r.Started, r.Checkpoint = state.NoSlot, time.Time{}, state.Checkpoint{}
			continue
		}
		n := 0
		for taken[n] {
			n++
		}
		taken[n], r.Slot = true, n
		to := filepath.Join(m.to, "slots", strconv.Itoa(n))
		if err := copySlot(from, to); err != nil {
			return err
		}
		if b, err := os.ReadFile(filepath.Join(to, appipc.TaskStateFile)); err == nil {
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

// markSlot writes what tells the executor whose slot it is, and how far.
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

// copySlot copies a slot without what belongs to the process that ran in it.
func copySlot(from, to string) error {
	src, err := os.OpenRoot(from)
	if err != nil {
		return err
	}
	defer src.Close()
	if err := os.RemoveAll(to); err != nil {
		return err
	}
	if err := os.MkdirAll(to, 0o771); err != nil { //nolint:gosec // as the executor's: applications may be another user
		return err
	}
	dst, err := os.OpenRoot(to)
	if err != nil {
		return err
	}
	defer dst.Close()
	return fs.WalkDir(src.FS(), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == "." {
			return err
		}
		if slices.Contains([]string{appipc.InitDataFile, appipc.MmapFile, appipc.LockFile, appipc.SetupFile}, path) || strings.HasSuffix(path, ".new") {
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		switch {
		case d.IsDir():
			return dst.Mkdir(path, info.Mode().Perm()|0o700)
		case info.Mode().IsRegular():
			return copyFile(src, dst, path, path, info.Mode().Perm()|0o600)
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := src.Readlink(path)
			if err != nil {
				return err
			}
			return dst.Symlink(target, path)
		}
		return nil
	})
}

// copyFile copies a regular file and syncs it. What is there already is replaced.
func copyFile(src, dst *os.Root, from, to string, perm os.FileMode) (err error) {
	in, err := src.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	if st, err := in.Stat(); err != nil {
		return err
	} else if !st.Mode().IsRegular() {
		return fmt.Errorf("%s is not a file", from)
	}
	out, err := dst.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, perm)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	if _, err := io.Copy(out, in); err != nil {
		return err
	}
	if err := out.Chmod(perm); err != nil {
		return err
	}
	return out.Sync()
}
