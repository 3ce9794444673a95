package rules

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/internal/foreigndir"
	"github.com/starling-grid/starling/prefs"
	"github.com/starling-grid/starling/state"
)

// readPrefs reads the volunteer's preference file and the tools' override, each into a separate
// layer, and keeps copies of correct files. A missing file sets nothing, unless it was there just
// now. A file with errors keeps its previous content.
func (ru *Rules) readPrefs() error {
	now := time.Now()
	layers, good, err := Layers(ru.Dir, ru.venue(), now)
	ru.Layers = layers
	for name, src := range good {
		if err := settings.Keep(ru.Dir, name, src, now); err != nil {
			ru.Log.Warn("preferences cannot be backed up; if the file has errors at the next start, the defaults will be used", "file", name, "err", err)
		}
	}
	return err
}

// Layers returns the layers in force and the texts of the correct files, nil for a missing one. The
// error joins the faults of the files.
func Layers(dataDir, venue string, now time.Time) (layers []prefs.Layer, good map[string][]byte, err error) {
	var errs []error
	good = make(map[string][]byte)
	for _, name := range []string{settings.PrefsFile, settings.PrefsOverrideFile} {
		path := filepath.Join(dataDir, name)
		src, err := foreigndir.ReadFile(path, settings.MaxFile)
		missing := errors.Is(err, fs.ErrNotExist)
		var l prefs.Layer
		if err == nil {
			l, err = prefs.Parse(path, src, venue)
		}
		if err == nil {
			good[name] = append([]byte{}, src...)
			layers = append(layers, l)
			continue
		}
		note := settings.StaysInEffect(dataDir, name)
		if missing {
			good[name], err = nil, nil
			if note = settings.Missing(dataDir, name, now); note == nil {
				continue
			}
		}
		errs = append(errs, err, note)
		if kept, _ := settings.LastGood(dataDir, name); kept != nil {
			if l, err := prefs.Parse(path, kept, venue); err == nil {
				layers = append(layers, l)
			}
		}
	}
	return layers, good, errors.Join(errs...)
}

// MergePrefs applies the preferences in force.
func (ru *Rules) MergePrefs() {
	p, err := Merge(ru.DB, ru.Layers, ru.venue())
	if err != nil {
		ru.Log.Warn("ignoring a project's preferences that cannot be read", "err", err)
	}
	ru.Prefs = p
	ru.Life.Reread()
	ru.Files.Limit()
}

// Merge combines the preferences from the projects' web sites with those in the files, which take
// precedence. The error is why the former do not count.
func Merge(db *state.DB, files []prefs.Layer, venue string) (prefs.Effective, error) {
	h, _ := db.Hosts.Get(state.Self)
	if h.Prefs.XML == "" {
		return prefs.Merge(files...), nil
	}
	web, _, err := prefs.ParseXML(h.Prefs.Project, h.Prefs.XML, venue, true)
	if err != nil {
		return prefs.Merge(files...), err
	}
	return prefs.Merge(slices.Concat([]prefs.Layer{web}, files)...), nil
}

func (ru *Rules) venue() string { return Venue(ru.Settings, ru.Accounts, ru.DB) }

// Venue returns the venue of this computer: the volunteer's setting, or else that from the project
// whose preferences apply.
func Venue(s settings.Settings, accounts map[string]settings.Account, db *state.DB) string {
	if s.Venue != "" {
		return s.Venue
	}
	h, _ := db.Hosts.Get(state.Self)
	if acc := accounts[h.Prefs.Project]; acc.Venue != "" {
		return acc.Venue
	}
	if m, _ := db.Managers.Get(state.Self); m.Venue != "" {
		return m.Venue
	}
	p, _ := db.Projects.Get(h.Prefs.Project)
	return p.Venue
}

// TakePrefs adopts preferences that a project or manager sent, unless they are no newer than the
// known ones. It reports whether it did.
func (ru *Rules) TakePrefs(tx *state.Tx, project, xml string, now time.Time) bool {
	if xml == "" {
		return false
	}
	_, changed, err := prefs.ParseXML(project, xml, "", true)
	h, ok := ru.DB.Hosts.Get(state.Self)
	m, _ := ru.DB.Managers.Get(state.Self)
	rules := m.Dynamic && m.URL != "" // then only the manager's count
	if err != nil || !ok || rules && project != m.URL || project == h.Prefs.Project && xml == h.Prefs.XML {
		return false
	}
	if changed.After(now) {
		changed = now // they cannot have been changed later: others that are changed from now on are newer
	}
	if !rules && !changed.After(h.Prefs.Changed) {
		return false
	}
	h.Prefs = state.AccountPrefs{Project: project, Changed: changed, XML: xml}
	ru.DB.Hosts.Put(tx, state.Self, h)
	return true
}
