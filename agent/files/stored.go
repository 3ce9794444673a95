package files

import (
	"errors"
	"log/slog"
	"os"
	"slices"
	"time"

	"github.com/starling-grid/starling/decide/storage"
	"github.com/starling-grid/starling/prefs"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/reason"
	"github.com/starling-grid/starling/state"
)

// maxRemoved is the number of a project's removed stored files that are remembered.
const maxRemoved = 10

// judged has the decisions of package storage about files.
type judged struct {
	snapshot storage.Snapshot
	gone     []string // keys of files that go
	refused  []judgement
	letGo    []judgement           // of those that go: that were stored, and why they are not
	used     map[string]state.File // by key: the time of their use changes
	again    time.Time
	now      time.Time
}

type judgement struct {
	key     string
	file    state.File
	code    storage.Code
	text    string
	already bool // it was refused for the same reason before
}

// judge decides which files go. needed are the keys of those that tasks and app versions
// need, used of those that they needed until now.
func (fs *Files) judge(needed, used map[string]bool, now time.Time) judged {
	j := judged{now: now, used: make(map[string]state.File)}
	s, keys := fs.stored(needed, used, &j)
	plan := storage.Decide(s)
	j.snapshot, j.again = s, plan.Again
	for i, v := range plan.Verdicts {
		if v.Code == "" {
			continue
		}
		f, _ := fs.DB.Files.Get(keys[i])
		of := judgement{key: keys[i], file: f, code: v.Code, text: v.Text(s, s.Files[i])}
		if t := fs.transfers[keys[i]]; t != nil {
			t.cancel() // its end has this looked at again
			if v.Goes() {
				continue
			}
		}
		if v.Refused {
			of.already = f.Error == of.text
			j.refused = append(j.refused, of)
			continue
		}
		j.gone = append(j.gone, keys[i])
		if f.Sticky && f.Local == state.FilePresent {
			j.letGo = append(j.letGo, of)
		}
	}
	return j
}

// stored returns the input of package storage, and the keys of the files in it.
func (fs *Files) stored(needed, used map[string]bool, j *judged) (s storage.Snapshot, keys []string) {
	s = storage.Snapshot{Now: j.now, Limit: gigabytes(fs.Prefs.MaxStickyGB), Excess: fs.Disk.Excess(), Bound: fs.Disk.Bound()}
	index := make(map[string]int)
	project := func(u string) int {
		i, known := index[u]
		if !known {
			i = len(s.Projects)
			index[u] = i
			s.Projects = append(s.Projects, storage.Project{Limit: gigabytes(fs.Accounts[u].MaxStickyGB)})
		}
		return i
	}
	for key, f := range fs.DB.Files.All() {
		if used[key] && f.Sticky {
			f.Used = j.now
			j.used[key] = f
		}
		if f.Own {
			continue
		}
		keys = append(keys, key)
		s.Files = append(s.Files, storage.File{
			Project: project(f.Project), Name: f.Name, Bytes: min(f.NBytes, maxStored), Sticky: f.Sticky, Until: f.StickyUntil, Used: f.Used,
			Needed: needed[key] || f.Send && f.Local == state.FilePresent, Status: status(f),
		})
	}
	return s, keys
}

// maxStored is the size, in bytes, up to which a file's size counts. Larger ones fit nowhere either, and
// the sum of as many files as a project may have must not overflow.
const maxStored = 1 << 45

func gigabytes(gb float64) int64 { return int64(gb * prefs.GB) }

func status(f state.File) storage.Status {
	switch {
	case f.Local == state.FilePresent:
		return storage.Present
	case f.Local == state.FileFailed:
		return storage.HadFailed
	case f.Fetched():
		return storage.Ordered
	}
	return storage.Nowhere
}

// put saves the decisions.
func (j *judged) put(fs *Files, tx *state.Tx) {
	for key, f := range j.used {
		fs.DB.Files.Put(tx, key, f)
	}
	for _, of := range j.refused {
		f := of.file
		f.Local, f.ErrNum, f.Error, f.Obstacle = state.FileFailed, protocol.ErrNumFileTooBig, of.text, reason.Reason{}
		fs.DB.Files.Put(tx, of.key, f)
	}
	for _, key := range j.gone {
		fs.DB.Files.Delete(tx, key)
	}
	for _, of := range j.letGo {
		p, ok := fs.DB.Projects.Get(of.file.Project)
		if !ok || of.code == storage.Unneeded {
			continue // as its project wanted
		}
		list := append(slices.Clip(p.Removed), state.RemovedFile{Name: of.file.Name, NBytes: of.file.NBytes, At: j.now, Code: string(of.code), Why: of.text})
		p.Removed = list[max(0, len(list)-maxRemoved):]
		fs.DB.Projects.Put(tx, of.file.Project, p)
	}
}

// log logs the decisions, once they are saved.
func (j *judged) log(fs *Files) {
	for _, of := range j.refused {
		level := slog.LevelWarn
		if of.already {
			level = slog.LevelDebug
		}
		fs.Log.Log(fs.Ctx, level, "refused to store a file", "project", of.file.Project, "file", of.file.Name, "why", of.text)
	}
	for _, of := range j.letGo {
		fs.Log.Info("stored file removed", "project", of.file.Project, "file", of.file.Name, "bytes", of.file.NBytes, "why", of.text)
	}
}

// Recover adopts the stored files at the start. Files that an older version kept forever get
// their lifetimes. Files that were removed or changed meanwhile count as missing.
func (fs *Files) Recover(now time.Time) {
	fs.Save(func(tx *state.Tx) {
		for key, f := range fs.DB.Files.All() {
			if !f.Sticky || fs.Ending(f.Project).Due(now) {
				continue
			}
			before := f.Local
			known := !f.Used.IsZero()
			if !known {
				f.Used = now
				if f.StickyLifetime > 0 && f.StickyUntil.IsZero() {
					f.StickyUntil = now.Add(f.StickyLifetime)
				}
			}
			if f.Local == state.FilePresent && (!f.Output || f.Done) && !fs.whole(f) {
				f.Local = state.FileAbsent
				fs.Log.Warn("a stored file is missing or has changed", "project", f.Project, "file", f.Name)
			}
			if !known || f.Local != before {
				fs.DB.Files.Put(tx, key, f)
			}
		}
	})
}

// whole reports whether a file is there in its size, or cannot be looked at now.
func (fs *Files) whole(f state.File) bool {
	dir, err := fs.OpenProject(f.Project)
	if err != nil {
		return true
	}
	defer dir.Close()
	st, err := dir.Stat(f.Name)
	if err != nil {
		return !errors.Is(err, os.ErrNotExist)
	}
	return f.NBytes == 0 || st.Size() == f.NBytes
}

// Touch notes that a task has its inputs in use.
func (fs *Files) Touch(tx *state.Tx, r state.Result, now time.Time) {
	u, _ := fs.DB.Units.Get(state.Key(r.Project, r.WorkunitName))
	for _, ref := range u.FileRefs {
		key := state.Key(r.Project, ref.FileName)
		if f, ok := fs.DB.Files.Get(key); ok && f.Sticky {
			f.Used = now
			fs.DB.Files.Put(tx, key, f)
		}
	}
}

// arrived records that a file was received, and its size if its project did not state it.
func (fs *Files) arrived(f *state.File, now time.Time) {
	f.Local, f.Used = state.FilePresent, now
	if f.NBytes > 0 {
		return
	}
	dir, err := fs.OpenProject(f.Project)
	if err != nil {
		return
	}
	defer dir.Close()
	if st, err := dir.Stat(f.Name); err == nil {
		f.NBytes = st.Size()
	}
}
