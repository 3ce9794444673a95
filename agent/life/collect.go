package life

import (
	"github.com/starling-grid/starling/filexfer"
	"github.com/starling-grid/starling/state"
)

// Collect forgets workunits without results, app versions that a newer one has
// replaced, and files that nothing refers to, and then removes those files.
func (l *Life) Collect() {
	if !l.stale {
		return
	}
	var units, versions, files []string
	newest := l.newestVersions()
	unitUsed, versionUsed := make(map[string]bool), make(map[string]bool)
	fileUsed := make(map[string]bool)
	for _, r := range l.DB.Results.All() {
		unitUsed[state.Key(r.Project, r.WorkunitName)] = true
		versionUsed[r.Version] = true
		for _, ref := range r.FileRefs {
			fileUsed[state.Key(r.Project, ref.FileName)] = true
		}
	}
	for key, u := range l.DB.Units.All() {
		if !unitUsed[key] {
			units = append(units, key)
			continue
		}
		for _, ref := range u.FileRefs {
			fileUsed[state.Key(u.Project, ref.FileName)] = true
		}
	}
	for key, v := range l.DB.Versions.All() {
		if !versionUsed[key] && v.VersionNum < newest[lineOf(v)] {
			versions = append(versions, key)
			continue
		}
		for _, ref := range v.FileRefs {
			fileUsed[state.Key(v.Project, ref.FileName)] = true
		}
	}
	for key, f := range l.DB.Files.All() {
		if !fileUsed[key] && !f.Sticky && l.transfers[key] == nil {
			files = append(files, key)
		}
	}
	// The files go first: a record without a file is repaired at the next
	// start, a file without a record would stay for ever.
	for _, key := range files {
		if f, ok := l.DB.Files.Get(key); ok {
			l.remove(f)
		}
	}
	l.stale = !l.Save(func(tx *state.Tx) {
		for _, k := range units {
			l.DB.Units.Delete(tx, k)
		}
		for _, k := range versions {
			l.DB.Versions.Delete(tx, k)
		}
		for _, k := range files {
			l.DB.Files.Delete(tx, k)
		}
	})
}

// A line is the app versions that stand in for each other: the newest is used.
type line struct{ project, app, platform, planClass string }

func lineOf(v state.AppVersion) line {
	return line{v.Project, v.AppName, v.Platform, v.PlanClass}
}

func (l *Life) newestVersions() map[line]int {
	newest := make(map[line]int)
	for _, v := range l.DB.Versions.All() {
		newest[lineOf(v)] = max(newest[lineOf(v)], v.VersionNum)
	}
	return newest
}

func (l *Life) remove(f state.File) {
	dir, err := l.OpenProject(f.Project)
	if err == nil {
		defer dir.Close()
		err = filexfer.Remove(dir, f.Name)
	}
	if err != nil {
		l.Log.Warn("cannot remove a file", "project", f.Project, "file", f.Name, "err", err)
	}
}
