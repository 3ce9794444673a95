package files

import (
	"time"

	"github.com/starling-grid/starling/agent/core"
	"github.com/starling-grid/starling/filexfer"
	"github.com/starling-grid/starling/state"
)

// collected describes the last run of Collect.
type collected struct {
	measured time.Time // when the disk measurement it used was made
	again    time.Time // when to look again, though nothing else changes (zero: never)
}

// Collect forgets workunits without results, app versions that a newer one has
// replaced, and files that nothing refers to and that are not to be stored, and then
// removes those files.
func (fs *Files) Collect(now time.Time, w *core.Waker) {
	c := fs.collected
	due := !c.again.IsZero() && !now.Before(c.again)
	if !fs.stale && !due && c.measured.Equal(fs.Disk.MeasuredAt()) {
		if !c.again.IsZero() {
			w.By(c.again)
		}
		return
	}
	var units, versions []string
	newest := fs.newestVersions()
	unitUsed, versionUsed := make(map[string]bool), make(map[string]bool)
	needed := make(map[string]bool)
	for _, r := range fs.DB.Results.All() {
		unitUsed[state.Key(r.Project, r.WorkunitName)] = true
		versionUsed[r.Version] = true
		for _, ref := range r.FileRefs {
			needed[state.Key(r.Project, ref.FileName)] = true
		}
	}
	used := make(map[string]bool) // until now, by records that are being forgotten
	for key, u := range fs.DB.Units.All() {
		keep := needed
		if !unitUsed[key] {
			units = append(units, key)
			keep = used
		}
		for _, ref := range u.FileRefs {
			keep[state.Key(u.Project, ref.FileName)] = true
		}
	}
	for key, v := range fs.DB.Versions.All() {
		if p, _ := fs.DB.Projects.Get(v.Project); !versionUsed[key] && v.VersionNum < newest[lineOf(v)] && !p.Anonymous {
			versions = append(versions, key)
			continue
		}
		for _, ref := range v.FileRefs {
			needed[state.Key(v.Project, ref.FileName)] = true
		}
	}
	files := fs.judge(needed, used, now)
	// The files are removed first. A record without a file is repaired at the next start, but a
	// file without a record would stay forever.
	for _, key := range files.gone {
		if f, ok := fs.DB.Files.Get(key); ok {
			fs.remove(f)
		}
	}
	fs.stale = !fs.Save(func(tx *state.Tx) {
		for _, k := range units {
			fs.DB.Units.Delete(tx, k)
		}
		for _, k := range versions {
			fs.DB.Versions.Delete(tx, k)
		}
		files.put(fs, tx)
	})
	if !fs.stale {
		files.log(fs)
		fs.Forgotten()
	}
	fs.collected = collected{fs.Disk.MeasuredAt(), files.again}
	if !files.again.IsZero() {
		w.By(files.again)
	}
}

// A line is a group of app versions that replace each other. The newest is used.
type line struct{ project, app, platform, planClass string }

func lineOf(v state.AppVersion) line {
	return line{v.Project, v.AppName, v.Platform, v.PlanClass}
}

func (fs *Files) newestVersions() map[line]int {
	newest := make(map[line]int)
	for _, v := range fs.DB.Versions.All() {
		newest[lineOf(v)] = max(newest[lineOf(v)], v.VersionNum)
	}
	return newest
}

func (fs *Files) remove(f state.File) {
	if f.Own {
		return
	}
	dir, err := fs.OpenProject(f.Project)
	if err == nil {
		defer dir.Close()
		var bytes int64
		if st, gone := dir.Lstat(f.Name); gone == nil {
			bytes = st.Size()
		}
		if err = filexfer.Remove(dir, f.Name); err == nil && bytes > 0 {
			fs.Disk.Freed(f.Project, bytes)
		}
	}
	if err != nil {
		fs.Log.Warn("cannot remove a file", "project", f.Project, "file", f.Name, "err", err)
	}
}
