package agent

import (
	"github.com/starling-grid/starling/filexfer"
	"github.com/starling-grid/starling/state"
)

// collect forgets workunits without results, app versions that a newer one has
// replaced, and files that nothing refers to, and then removes those files.
func (a *Agent) collect() {
	if !a.stale {
		return
	}
	var units, versions, files []string
	unitUsed, versionUsed := make(map[string]bool), make(map[string]bool)
	fileUsed := make(map[string]bool)
	for _, r := range a.db.Results.All() {
		unitUsed[state.Key(r.Project, r.WorkunitName)] = true
		versionUsed[r.Version] = true
		for _, ref := range r.FileRefs {
			fileUsed[state.Key(r.Project, ref.FileName)] = true
		}
	}
	for key, u := range a.db.Units.All() {
		if !unitUsed[key] {
			units = append(units, key)
			continue
		}
		for _, ref := range u.FileRefs {
			fileUsed[state.Key(u.Project, ref.FileName)] = true
		}
	}
	for key, v := range a.db.Versions.All() {
		if !versionUsed[key] && a.replaced(v) {
			versions = append(versions, key)
			continue
		}
		for _, ref := range v.FileRefs {
			fileUsed[state.Key(v.Project, ref.FileName)] = true
		}
	}
	for key, f := range a.db.Files.All() {
		if !fileUsed[key] && !f.Sticky && a.moving[key] == nil {
			files = append(files, key)
		}
	}
	// The files go first: a record without a file is put right at the next
	// start, a file without a record would stay for ever.
	for _, key := range files {
		if f, ok := a.db.Files.Get(key); ok {
			a.remove(f)
		}
	}
	a.stale = !a.save(func(tx *state.Tx) {
		for _, k := range units {
			a.db.Units.Delete(tx, k)
		}
		for _, k := range versions {
			a.db.Versions.Delete(tx, k)
		}
		for _, k := range files {
			a.db.Files.Delete(tx, k)
		}
	})
}

// replaced reports whether a newer version stands in for v.
func (a *Agent) replaced(v state.AppVersion) bool {
	for _, other := range a.db.Versions.Of(v.Project) {
		if other.AppName == v.AppName && other.Platform == v.Platform && other.PlanClass == v.PlanClass && other.VersionNum > v.VersionNum {
			return true
		}
	}
	return false
}

func (a *Agent) remove(f state.File) {
	dir, err := a.openProject(f.Project)
	if err == nil {
		defer dir.Close()
		err = filexfer.Remove(dir, f.Name)
	}
	if err != nil {
		a.log.Warn("cannot remove a file", "project", f.Project, "file", f.Name, "error", err)
	}
}
