package rules

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/starling-grid/starling/agent/appinfo"
	"github.com/starling-grid/starling/agent/hostinfo"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/resource"
	"github.com/starling-grid/starling/state"
)

// ReadAllOwn adopts the current app_info.xml of every project.
func (ru *Rules) ReadAllOwn() {
	var all []string
	for u := range ru.DB.Projects.All() {
		all = append(all, u)
	}
	ru.ReadOwn(all...)
}

// ReadOwn adopts the current app_info.xml of projects. If one has errors, its previous content
// stays in effect. If there was none, its correct parts are used. The errors are among the Faults.
func (ru *Rules) ReadOwn(projects ...string) {
	if ru.ownFaults == nil {
		ru.ownFaults = make(map[string]error)
	}
	platform, _ := hostinfo.Platform()
	for _, u := range projects {
		p, ok := ru.DB.Projects.Get(u)
		if !ok || p.Ending.Leaves() {
			delete(ru.ownFaults, u)
			continue
		}
		info, err := appinfo.Read(ru.ProjectDir(u), platform)
		if err != nil {
			ru.Log.Error("app_info.xml has errors: its last correct content stays in effect", "project", u, "err", err)
		}
		if ru.ownFaults[u] = err; err == nil || !p.Anonymous && info != nil {
			ru.takeOwn(p, info)
		}
	}
	errs := []error{ru.SettingsFaults, ru.faults}
	for _, u := range slices.Sorted(maps.Keys(ru.ownFaults)) {
		errs = append(errs, ru.ownFaults[u])
	}
	ru.Faults = errors.Join(errs...)
}

// takeOwn replaces a project's versions with the volunteer's own, or with nil lets the project send
// its versions again. Tasks that wait for a version that no longer exists, or run with it, are
// aborted: no other program can continue them.
//
// Source: BOINC client/cs_statefile.cpp, check_anonymous and parse_state_file, which drops such
// tasks without telling the server.
func (ru *Rules) takeOwn(p state.Project, info *appinfo.Info) {
	if info == nil && !p.Anonymous {
		return
	}
	u := p.MasterURL
	versions := make(map[string]state.AppVersion)
	files := make(map[string]protocol.FileInfo)
	if info != nil {
		for _, v := range info.Versions {
			rec := state.AppVersion{Project: u, AppVersion: v}
			versions[rec.ID()] = rec
		}
		for _, f := range info.Files {
			files[state.Key(u, f.Name)] = f
		}
	}
	changed := p.Anonymous != (info != nil)
	for key := range ru.DB.Versions.Of(u) {
		if _, stays := versions[key]; !stays {
			changed = true
		}
	}
	for key := range versions {
		if _, known := ru.DB.Versions.Get(key); !known {
			changed = true
		}
	}
	ru.abortWithout(u, versions, info != nil)
	p, _ = ru.DB.Projects.Get(u)
	p.Anonymous, p.NoRscApps = info != nil, nil
	if info != nil {
		p.NoRscApps = ru.without(versions)
	}
	if changed { // the server's replies about other programs no longer count
		p.Retries(func(r *state.Retry) { *r = state.Retry{} })
	}
	if !ru.Save(func(tx *state.Tx) {
		for key := range ru.DB.Versions.Of(u) {
			if _, stays := versions[key]; !stays {
				ru.DB.Versions.Delete(tx, key)
			}
		}
		for key, v := range versions {
			if old, known := ru.DB.Versions.Get(key); known && old.Flops == v.Flops {
				v.Estimates = old.Estimates
			}
			ru.DB.Versions.Put(tx, key, v)
		}
		for key, f := range ru.DB.Files.Of(u) {
			if _, stays := files[key]; f.Own && !stays {
				ru.DB.Files.Delete(tx, key) // the file itself is the volunteer's
			}
		}
		for key, f := range files {
			ru.DB.Files.Put(tx, key, state.File{Project: u, FileInfo: f, Own: true, Local: state.FilePresent})
		}
		if info != nil {
			for _, a := range info.Apps {
				ru.DB.Apps.Put(tx, state.Key(u, a.Name), state.App{Project: u, App: a})
			}
		}
		ru.DB.Projects.Put(tx, u, p)
	}) {
		return
	}
	ru.Files.Stale()
	switch {
	case !changed:
	case info != nil:
		ru.Log.Info("computing with your own programs (app_info.xml)", "project", u, "versions", len(versions))
	default:
		ru.Log.Info("app_info.xml was removed; computing with the project's programs", "project", u)
	}
}

// abortWithout aborts the tasks of a project whose versions are not among those that stay.
func (ru *Rules) abortWithout(project string, stay map[string]state.AppVersion, own bool) {
	held := make(map[string]state.Result)
	for key, r := range ru.DB.Results.Of(project) {
		if _, ok := stay[r.Version]; !ok && r.Computing() && !r.ReadyToReport {
			held[key] = r
		}
	}
	for _, key := range slices.Sorted(maps.Keys(held)) {
		r := held[key]
		why := "app_info.xml was removed, and no other program can continue the task"
		if own {
			unit, _ := ru.DB.Units.Get(state.Key(project, r.WorkunitName))
			why = fmt.Sprintf("app_info.xml has no version %d.%02d of %s for this task", r.VersionNum/100, r.VersionNum%100, unit.AppName)
		}
		ru.Log.Warn("task aborted", "project", project, "result", r.Name, "why", why)
		if err := ru.Life.Abort(key, r, why); err != nil {
			ru.Log.Warn("cannot abort a task", "result", r.Name, "err", err)
		}
	}
}

// without returns the kinds of processors, by BOINC's names, that no version uses.
//
// Source: BOINC client/project.cpp, PROJECT::check_no_apps.
func (ru *Rules) without(versions map[string]state.AppVersion) (kinds []string) {
	has := make(map[resource.Kind]bool)
	for _, v := range versions {
		has[v.Kind()] = true
	}
	if !has[resource.CPU] {
		kinds = append(kinds, "CPU")
	}
	for _, g := range ru.Coprocs.Groups {
		if !has[g.Kind] {
			kinds = append(kinds, string(g.Kind))
		}
	}
	return kinds
}
